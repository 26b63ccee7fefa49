import { describe, expect, it } from "vitest";
import type { Operation } from "../../operation/operation.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Call } from "../../operation/execute.ts";
import { parseEmbeddedRequest, partRequestOf } from "./embedded-http.ts";
import { Part } from "./multipart.ts";
import { PartCache } from "./change-set.ts";
import type { SelectedRequest } from "../request/request-context.ts";
import type { WireRequest } from "../wire.ts";

const operation = {
  body: {
    kind: "bytes",
    bytesMax: 1024,
    parse: (bytes: Uint8Array, type: string) => {
      const text = Buffer.from(bytes).toString();
      return text === "bad" ? fail("InvalidInput") : ok(`${type} ${text}`);
    },
  },
  completeAddress: (address: object, input: { body: string }) => ({
    ...address,
    named: input.body,
  }),
} as unknown as Operation;
const address = { resource: "entities" };
const batch = { headers: { host: "h" } } as unknown as WireRequest;

function partOf(headers: string, body: string): Part {
  const text = `POST /a/t HTTP/1.1\r\nContent-Type: x/y\r\n${headers}\r\n${body}`;
  return new Part({ headers: {}, rawHeaders: [] }, Buffer.from(text));
}

/** Remembers the head of one part, then looks for the other's. */
function found(first: Part, second: Part) {
  const templates = new PartCache();
  const embedded = parseEmbeddedRequest(first);
  if (!embedded.ok) throw new Error("malformed part");
  const call = { operation, input: { kept: 1 }, version: "v" } as unknown as Call;
  const request = partRequestOf(embedded.value, batch);
  const context = { request, address, operation } as unknown as SelectedRequest;
  templates.remember(first, context, call);
  return templates.find(second);
}

describe("parts with a cached head", () => {
  it("differ in their bodies only", () => {
    const seen = found(partOf("", "one"), partOf("", "two"));
    expect(seen?.context.address).toBe(address);
    expect(seen?.call).toMatchObject({
      ok: true,
      value: {
        version: "v",
        input: { kept: 1, body: "x/y two" },
        address: { resource: "entities", named: "x/y two" },
      },
    });
  });

  it("fail if their own body is invalid", () => {
    expect(found(partOf("", "one"), partOf("", "bad"))?.call).toMatchObject({ ok: false });
  });

  it("end at their Content-Length, and are parsed in full if it is wrong", () => {
    const length = "Content-Length: 3\r\n";
    const cut = found(partOf(length, "one\r\n"), partOf(length, "two\r\n"));
    expect(cut?.call).toMatchObject({ ok: true, value: { input: { body: "x/y two" } } });
    expect(found(partOf(length, "one"), partOf(length, "tw"))).toBeUndefined();
  });

  it.each([
    ["another head", "", "Accept: z\r\n"],
    ["a checksum", "Content-MD5: AAAA\r\n", "Content-MD5: AAAA\r\n"],
    ["a structured body", "x-ms-structured-body: XSM/1.0\r\n", "x-ms-structured-body: XSM/1.0\r\n"],
  ])("are read in full with %s", (_name, first, second) => {
    expect(found(partOf(first, "one"), partOf(second, "two"))).toBeUndefined();
  });

  it("are parsed in full if the head ends earlier, at a bare line feed", () => {
    const bare = "\nrest\r\n\r\n";
    expect(found(partOf(bare, "one"), partOf(bare, "two"))).toBeUndefined();
  });
});
