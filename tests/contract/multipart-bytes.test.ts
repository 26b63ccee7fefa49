import { describe, expect, it } from "vitest";
import { simBlob } from "../harness/sim-blob.ts";
import { testServer } from "../harness/server.ts";
import { tableWire } from "../harness/table-client.ts";

const held = testServer();
const wire = tableWire(() => held.server.urls.table ?? "");

/** Replaces values that differ between responses by their kind. */
function normalised(text: string): string {
  return text
    .replaceAll(/batchresponse_[0-9a-f-]{36}/g, "BATCH")
    .replaceAll(/changesetresponse_[0-9a-f-]{36}/g, "CHANGES")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "GUID")
    .replaceAll(/datetime'[^']*'/g, "datetime'TIME'")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://HOST");
}

/**
 * Line breaks, headers and their order as in all recorded responses: clients parse these bodies by
 * line.
 */
describe("multipart responses, byte by byte", () => {
  it("of a blob batch", async () => {
    const blob = await simBlob();
    await blob.send({ method: "PUT", path: "/abc?restype=container" });
    const headers = { "x-ms-blob-type": "BlockBlob" };
    await blob.send({ method: "PUT", path: "/abc/b", headers });
    const part = (id: number, path: string) =>
      `--x\r\nContent-Type: application/http\r\nContent-ID: ${id}\r\n\r\n` +
      `DELETE /devstoreaccount1${path} HTTP/1.1\r\n\r\n`;
    const { body } = await blob.send({
      method: "POST",
      path: "/?comp=batch",
      headers: { "content-type": "multipart/mixed; boundary=x" },
      body: `${part(0, "/abc/b")}${part(1, "/none/b")}--x--\r\n`,
    });
    const error =
      '\uFEFF<?xml version="1.0" encoding="utf-8"?>\n<Error><Code>ContainerNotFound</Code>' +
      "<Message>The specified container does not exist.\n" +
      "RequestId:GUID\nTime:TIME</Message></Error>";
    expect(normalised(body)).toBe(
      [
        "--BATCH",
        "Content-Type: application/http",
        "Content-ID: 0",
        "",
        "HTTP/1.1 202 Accepted",
        "x-ms-delete-type-permanent: true",
        "x-ms-request-id: GUID",
        "x-ms-version: 2023-11-03",
        "Server: Etagere-Blob/1.0",
        "",
        "--BATCH",
        "Content-Type: application/http",
        "Content-ID: 1",
        "",
        "HTTP/1.1 404 The specified container does not exist.",
        "x-ms-error-code: ContainerNotFound",
        "x-ms-request-id: GUID",
        "x-ms-version: 2023-11-03",
        "Content-Length: 226",
        "Content-Type: application/xml",
        "Server: Etagere-Blob/1.0",
        "",
        error,
        "--BATCH--",
      ].join("\r\n"),
    );
  });

  it("of a table transaction", async () => {
    const table = await wire.newTable();
    const entity = { PartitionKey: "p", RowKey: "r" };
    const headers = { Prefer: "return-no-content" };
    const path = `/${table}`;
    const { body } = await wire.transact([{ method: "POST", path, headers, entity }]);
    const url = `http://HOST/devstoreaccount1/${table}(PartitionKey='p',RowKey='r')`;
    expect(normalised(body.toString())).toBe(
      [
        "--BATCH",
        "Content-Type: multipart/mixed; boundary=CHANGES",
        "",
        "--CHANGES",
        "Content-Type: application/http",
        "Content-Transfer-Encoding: binary",
        "",
        "HTTP/1.1 204 No Content",
        "X-Content-Type-Options: nosniff",
        "Cache-Control: no-cache",
        "Preference-Applied: return-no-content",
        "DataServiceVersion: 3.0;",
        `Location: ${url}`,
        `DataServiceId: ${url}`,
        `ETag: W/"datetime'TIME'"`,
        "",
        "",
        "--CHANGES--",
        "--BATCH--",
        "",
      ].join("\r\n"),
    );
  });
});
