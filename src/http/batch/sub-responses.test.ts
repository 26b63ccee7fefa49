import { describe, expect, it } from "vitest";
import { byteOrderMark, xmlDeclaration } from "../../encoding/xml-writer.ts";
import { renderSubResponse, renderSubResponses } from "./run-batch.ts";

const common = { Server: "S/1.0", "x-ms-request-id": "7", "x-ms-version": "v", Date: "today" };
const error = `${byteOrderMark}${xmlDeclaration}<Error/>`;
const deleted = {
  status: 202,
  headers: { ...common, "Content-Length": "0", "x-ms-delete-type-permanent": "true" },
  body: undefined,
};
const missing = {
  status: 404,
  reason: "The specified blob does not exist.",
  headers: {
    ...common,
    "x-ms-client-request-id": "c",
    "x-ms-error-code": "BlobNotFound",
    "Content-Type": "application/xml",
    "Content-Length": String(Buffer.byteLength(error)),
  },
  body: { kind: "bytes", bytes: Buffer.from(error) },
} as const;

/** Recorded: the order of the headers, the line breaks, and what is left out. */
describe("the response to a blob batch", () => {
  it("is byte for byte as recorded", () => {
    const parts = [renderSubResponse(deleted, "0"), renderSubResponse(missing, "1")];
    expect(Buffer.from(renderSubResponses("batchresponse_b", parts)).toString()).toBe(
      [
        "--batchresponse_b",
        "Content-Type: application/http",
        "Content-ID: 0",
        "",
        "HTTP/1.1 202 Accepted",
        "x-ms-delete-type-permanent: true",
        "x-ms-request-id: 7",
        "x-ms-version: v",
        "Server: S/1.0",
        "",
        "--batchresponse_b",
        "Content-Type: application/http",
        "Content-ID: 1",
        "",
        "HTTP/1.1 404 The specified blob does not exist.",
        "x-ms-error-code: BlobNotFound",
        "x-ms-request-id: 7",
        "x-ms-version: v",
        "x-ms-client-request-id: c",
        "Content-Length: 50",
        "Content-Type: application/xml",
        "Server: S/1.0",
        "",
        `${byteOrderMark}${xmlDeclaration}\n<Error/>`,
        "--batchresponse_b--",
      ].join("\r\n"),
    );
  });

  it("has one part without a Content-ID if the batch is rejected as a whole", () => {
    const text = Buffer.from(renderSubResponse(missing, undefined)).toString();
    expect(text).toMatch(/^Content-Type: application\/http\r\n\r\nHTTP\/1\.1 404 /);
  });
});
