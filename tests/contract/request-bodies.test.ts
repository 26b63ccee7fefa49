import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccount } from "../../src/account/settings.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { blobService } from "../../src/blob/service.ts";
import { fileService } from "../../src/file/service.ts";
import type { HttpService } from "../../src/http/http-service.ts";
import { locate } from "../../src/http/request/target.ts";
import { prepareCall } from "../../src/http/request/prepare.ts";
import { structuredFault, unwrapStructured } from "../../src/http/request/body.ts";
import type { WireRequest } from "../../src/http/wire.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { keyPrincipal } from "../../src/protocol/principal.ts";
import type { Result } from "../../src/protocol/result.ts";
import { latestVersion } from "../../src/protocol/versions.ts";
import { queueService } from "../../src/queue/service.ts";
import { tableService } from "../../src/table/service.ts";
import { simBlob } from "../harness/sim-blob.ts";
import { simFile } from "../harness/sim-file.ts";
import { simService } from "../harness/sim-service.ts";
import { frame, structuredHeaders } from "../harness/structured-body.ts";
import { batchOf } from "../harness/table-client.ts";

const services = [blobService, dfsService, queueService, tableService, fileService];
const operations = services.flatMap(({ name, api = name, operations: all }) =>
  all.map((operation) => ({ operation, title: titleOf(api, operation) })),
);

function titleOf(api: string, { name, route }: Operation): string {
  const { method, resource, query = {}, headers = {} } = route;
  const selectors = JSON.stringify({ ...query, ...headers });
  return `${api}: ${name} (${[method].flat()[0]} ${resource} ${selectors})`;
}

const takesBody = ({ body }: Operation) => body.kind !== "none" && body.kind !== "source";
const withoutBody = operations.filter(({ operation }) => !takesBody(operation));
const withBody = operations.filter(({ operation }) => takesBody(operation));

let http: HttpService;

beforeAll(async () => {
  http = (await simService(blobService)).http;
});

function wireRequest(
  { route }: Operation,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): WireRequest {
  async function* chunks() {
    if (body.length > 0) yield body;
  }
  const method = [route.method].flat()[0] ?? "GET";
  const target = `/${developmentAccount().name}/name/name`;
  const sent = { host: "127.0.0.1", ...headers };
  const rawHeaders = Object.entries(sent).flat();
  const common = { secure: false, remoteAddress: "127.0.0.1", proceed: () => {} };
  return { method, target, headers: sent, rawHeaders, body: chunks(), ...common };
}

/** Prepares a call of the operation, whatever the request would have been routed to. */
async function prepare(operation: Operation, headers: Record<string, string>, body: string) {
  const request = wireRequest(operation, headers, Buffer.from(body));
  const location = locate(request, http);
  if (!location.ok) throw new Error("the request has no account");
  const address = { resource: operation.route.resource };
  return prepareCall(http, {
    request,
    requestId: "",
    location: location.value,
    version: latestVersion,
    address,
    principal: keyPrincipal,
    settings: developmentAccount(),
    operation,
  });
}

function faultOf(result: Awaited<ReturnType<typeof prepare>>): string | undefined {
  if ("outcome" in result || result.ok) return undefined;
  const { code, detail } = result.fault;
  return `${code} ${detail?.elements?.["HeaderName"] ?? ""}`.trim();
}

describe("an operation without a body rejects one", () => {
  it.each(withoutBody)("$title", async ({ operation }) => {
    const announced = await prepare(operation, { "content-length": "1" }, "x");
    expect(faultOf(announced)).toBe("InvalidHeaderValue Content-Length");
  });
});

describe("a body in chunks", () => {
  const get = blobService.operations.find(({ name }) => name === "List Containers")!;
  const chunked = { "transfer-encoding": "chunked" };

  it("is rejected by an operation without a body", async () => {
    expect(faultOf(await prepare(get, chunked, "x"))).toBe("InvalidHeaderValue Transfer-Encoding");
  });

  it("is accepted if it is empty", async () => {
    expect(faultOf(await prepare(get, chunked, ""))).toBeUndefined();
  });
});

/** The bytes that an operation would receive, or the fault. */
async function unwrapped(operation: Operation, body: Buffer): Promise<string> {
  const headers = { "content-length": String(body.length), ...structuredHeaders(5) };
  const request = wireRequest(operation, headers, body);
  const result: Result<WireRequest> = unwrapStructured(request, operation, latestVersion);
  if (!result.ok) return result.fault.code;
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of result.value.body) chunks.push(chunk);
  } catch (error) {
    return structuredFault(error).fault.code;
  }
  return Buffer.concat(chunks).toString();
}

describe("a structured body is verified and unwrapped, or its header is rejected", () => {
  const hello = [Buffer.from("hello")];
  it.each(withBody)("$title", async ({ operation }) => {
    const isRejected = operation.body.kind === "transaction";
    const expected = isRejected ? ["UnsupportedHeader", "UnsupportedHeader"] : ["hello"];
    expect(await unwrapped(operation, frame(hello))).toBe(expected[0]);
    expect(await unwrapped(operation, frame(hello, "segment"))).toBe(
      expected[1] ?? "Crc64Mismatch",
    );
  });
});

describe("bodies through the whole pipeline", () => {
  it("a rejected body changes nothing", async () => {
    const sim = await simBlob();
    const path = "/abc?restype=container";
    const refused = await sim.send({ method: "PUT", path, body: "x" });
    expect([refused.status, refused.code]).toEqual([400, "InvalidHeaderValue"]);
    expect(refused.body).toContain("<HeaderName>Content-Length</HeaderName>");
    expect((await sim.send({ method: "GET", path })).status).toBe(404);
  });

  it("Append Data of the Data Lake API stores the bytes without the checksums", async () => {
    const sim = await simBlob({ hierarchicalNamespace: true });
    const dfs = (method: string, path: string, extra: object = {}) =>
      sim.sendToDfs({ method, path, ...extra });
    await dfs("PUT", "/lake?resource=filesystem");
    await dfs("PUT", "/lake/file?resource=file");
    const append = (body: Buffer) =>
      dfs("PATCH", "/lake/file?action=append&position=0", { body, headers: structuredHeaders(5) });
    const damaged = await append(frame([Buffer.from("hello")], "message"));
    expect([damaged.status, damaged.code]).toEqual([400, "Crc64Mismatch"]);
    expect((await append(frame([Buffer.from("hello")]))).status).toBe(202);
    await dfs("PATCH", "/lake/file?action=flush&position=5");
    expect((await dfs("GET", "/lake/file")).body).toBe("hello");
  });

  it("a table transaction rejects the header", async () => {
    const sim = await simService(tableService);
    const { headers: type, body } = batchOf([]);
    const headers = { ...type, ...structuredHeaders(5) };
    const answer = await sim.send({ method: "POST", path: "/$batch", headers, body });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain("UnsupportedHeader");
  });

  it("Create File of an earlier version has no body", async () => {
    const sim = await simFile();
    await sim.send({ method: "PUT", path: "/share?restype=share" });
    const headers = {
      "x-ms-type": "file",
      "x-ms-content-length": "1",
      "x-ms-version": "2025-11-05",
    };
    const answer = await sim.send({ method: "PUT", path: "/share/f", headers, body: "x" });
    expect([answer.status, answer.code]).toEqual([400, "InvalidHeaderValue"]);
    expect((await sim.send({ method: "HEAD", path: "/share/f" })).status).toBe(404);
  });
});
