// Conditions on the source of a copy decide, whatever service of this server the source is in: one
// that is ignored is a lost update.
import { beforeAll, describe, expect, it } from "vitest";
import { accountSas } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";
import { contents, copyOperations, makeTargets } from "./copy-operations.ts";
import type { Clients, CopyOperation } from "./copy-operations.ts";

const held = testServer();
let clients: Clients;
/** URL and current ETag of the source in each service. */
const sources: Record<string, { readonly url: string; readonly etag: string }> = {};
const past = "Mon, 01 Jan 2001 00:00:00 GMT";
const future = "Fri, 01 Jan 2100 00:00:00 GMT";
const data = "d".repeat(512);

beforeAll(async () => {
  const { urls } = held.server;
  clients = await makeTargets(held.server);
  await create("blob", "/ccc/source", { "x-ms-blob-type": "BlockBlob" }, data);
  await create("file", "/sss/source", { "x-ms-type": "file", "x-ms-content-length": "512" });
  const range = { "x-ms-write": "update", "x-ms-range": "bytes=0-511" };
  await create("file", "/sss/source?comp=range", range, data);
  const places = { blob: "/ccc/source", dfs: "/ccc/source", file: "/sss/source" } as const;
  for (const [service, path] of Object.entries(places)) {
    const client = clients[service === "file" ? "file" : "blob"];
    const { headers } = await client.send({ method: "HEAD", path });
    const { origin } = new URL(urls[service as keyof typeof places] ?? "");
    const url = `${origin}/devstoreaccount1${path}?${accountSas()}`;
    sources[service] = { url, etag: String(headers["etag"]) };
  }
});

async function create(
  service: "blob" | "file",
  path: string,
  headers: Record<string, string>,
  body = "",
): Promise<void> {
  const { status } = await clients[service].send({ method: "PUT", path, headers, body });
  expect(status).toBe(201);
}

type Condition = readonly [header: string, value: (etag: string) => string];
const other = '"0x8D0000000000000"';
const unmet: readonly Condition[] = [
  ["if-match", () => other],
  ["if-none-match", (etag) => etag],
  ["if-modified-since", () => future],
  ["if-unmodified-since", () => past],
];
const met: readonly Condition[] = [
  ["if-match", (etag) => etag],
  ["if-none-match", () => other],
  ["if-modified-since", () => past],
  ["if-unmodified-since", () => future],
];

let targets = 0;

/** Sends a copy with a condition. A copy whose bytes come later gets a target of its own, because
 *  an earlier one may still be pending. */
function send(
  { service, call }: CopyOperation,
  source: string,
  [header, value]: Condition,
): ReturnType<Clients["blob"]["send"]> {
  const { url = "", etag = "" } = sources[source] ?? {};
  const { headers, path, ...rest } = call(url);
  targets += 1;
  const conditions = { [`x-ms-source-${header}`]: value(etag) };
  return clients[service].send({
    ...rest,
    path: path.replace(/copied$/, `copied${targets}`),
    headers: { ...headers, ...conditions },
  });
}

const services = ["blob", "dfs", "file"];

describe.each(copyOperations)("$name", (operation) => {
  // These copies have their own code, and never 304.
  const isLater = operation.asks === "HEAD";
  const expectedCode = isLater ? "SourceConditionNotMet" : "CannotVerifyCopySource";

  it.each(services)("fails for a source of %s that does not fit", async (source) => {
    const before = await contents(clients);
    for (const condition of unmet) {
      const [header] = condition;
      const isRead = header === "if-none-match" || header === "if-modified-since";
      const { status, code } = await send(operation, source, condition);
      expect([header, status]).toEqual([header, isRead && !isLater ? 304 : 412]);
      if (status === 412) expect(code).toBe(expectedCode);
    }
    expect(await contents(clients)).toEqual(before);
  });

  it.each(services)("works for a source of %s that fits", async (source) => {
    for (const condition of met) {
      const { status, code } = await send(operation, source, condition);
      expect([condition[0], status < 300, code]).toEqual([condition[0], true, undefined]);
    }
  });
});
