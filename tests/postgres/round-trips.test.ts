import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { start, type EtagereServer } from "../../src/index.ts";
import { rawClient } from "../harness/raw-client.ts";
import { freePorts } from "../harness/server.ts";
import { openDatabase, type Database } from "./database.ts";

let database: Database;
let folder: string;
let server: EtagereServer;
const statements: string[] = [];

/** The driver does not report round trips, so its query method is wrapped. */
// oxlint-disable-next-line unbound-method -- it is called on the client it belongs to.
const { query } = pg.Client.prototype;

beforeAll(async () => {
  pg.Client.prototype.query = function listenedTo(this: pg.Client, ...words: unknown[]) {
    const [first] = words as [string | { name?: string; text?: string }];
    statements.push(typeof first === "string" ? first : (first.name ?? first.text ?? ""));
    return (query as (...all: unknown[]) => unknown).apply(this, words);
  } as typeof query;
  database = await openDatabase();
  folder = await mkdtemp(join(tmpdir(), "etagere-trips-"));
  const store = database.newUrl();
  server = await start({ ...freePorts, location: folder, store });
  await blob({ method: "PUT", path: "/con?restype=container" });
  await queue({ method: "PUT", path: "/que" });
  await table({ method: "POST", path: "/Tables", body: json({ TableName: "tab" }) });
});

afterAll(async () => {
  pg.Client.prototype.query = query;
  await server.stop();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
});

type Request = Parameters<ReturnType<typeof rawClient>["send"]>[0];
const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const blob = (request: Request) => rawClient(server.urls.blob ?? "").send(request);
const queue = (request: Request) => rawClient(server.urls.queue ?? "").send(request);
const table = (request: Request) =>
  rawClient(server.urls.table ?? "").send({
    ...request,
    headers: { "content-type": "application/json", ...request.headers },
  });

const tries = 6;
/** Reads are tried more often: on a busy machine a poll of the node falls into each of a few. */
const readTriesMax = 200;

/** Background work of the node can only add round trips: the minimum counts. */
async function statementsOf(run: (index: number) => Promise<unknown>): Promise<readonly string[]> {
  let fewest: readonly string[] | undefined;
  const isDone = (index: number) => index >= tries && (fewest?.length === 1 || hasCommit(fewest));
  for (let index = 0; index < readTriesMax && !isDone(index); index += 1) {
    statements.length = 0;
    await run(index);
    if (fewest === undefined || statements.length < fewest.length) fewest = [...statements];
  }
  return fewest ?? [];
}

function hasCommit(found: readonly string[] | undefined): boolean {
  return found?.includes("commit") === true;
}

const read = ["prefetch_keys"];
const readAndCommit = ["prefetch_keys", "commit"];
const bytes = Buffer.alloc(1024, "x");
const put = (index: number): Request => ({
  method: "PUT",
  path: `/con/b${index}`,
  headers: { "x-ms-blob-type": "BlockBlob" },
  body: bytes,
});
const entity = (index: number): Buffer =>
  json({ PartitionKey: "p", RowKey: String(index), count: index });

describe("round trips per request on an otherwise idle node", () => {
  it("Put Blob takes two, Get Blob one", async () => {
    const answers: number[] = [];
    const note = async (answer: ReturnType<typeof blob>) => answers.push((await answer).status);
    expect(await statementsOf((index) => note(blob(put(index))))).toEqual(readAndCommit);
    expect(await statementsOf(() => note(blob({ method: "GET", path: "/con/b1" })))).toEqual(read);
    expect(await statementsOf(() => note(blob({ method: "HEAD", path: "/con/b1" })))).toEqual(read);
    expect(new Set(answers)).toEqual(new Set([201, 200]));
  });

  it("Delete Blob takes two", async () => {
    for (let index = 0; index < tries; index += 1) await blob(put(index));
    const gone = (index: number) => blob({ method: "DELETE", path: `/con/b${index}` });
    expect(await statementsOf(gone)).toEqual(["prefetch", "commit"]);
  });

  it("inserting or merging an entity takes two", async () => {
    const insert = (index: number) => table({ method: "POST", path: "/tab", body: entity(index) });
    expect(await statementsOf(insert)).toEqual(readAndCommit);
    const merge = (index: number) =>
      table({
        method: "MERGE",
        path: `/tab(PartitionKey='p',RowKey='${index}')`,
        headers: { "if-match": "*" },
        body: entity(index),
      });
    expect(await statementsOf(merge)).toEqual(readAndCommit);
    const found = (index: number) =>
      table({ method: "GET", path: `/tab(PartitionKey='p',RowKey='${index}')` });
    expect(await statementsOf(found)).toEqual(read);
  });

  it("putting, receiving or deleting a message takes two", async () => {
    const body = Buffer.from("<QueueMessage><MessageText>x</MessageText></QueueMessage>");
    const enqueue = () => queue({ method: "POST", path: "/que/messages", body });
    expect(await statementsOf(enqueue)).toEqual(readAndCommit);
    const held: string[] = [];
    const dequeue = async (): Promise<void> => {
      const text = (await queue({ method: "GET", path: "/que/messages" })).body.toString();
      const [id, receipt] = ["MessageId", "PopReceipt"].map(
        (name) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? "",
      );
      held.push(`/que/messages/${id}?popreceipt=${encodeURIComponent(receipt ?? "")}`);
    };
    expect(await statementsOf(dequeue)).toEqual(["prefetch", "commit"]);
    const gone = async (index: number): Promise<void> => {
      const answer = await queue({ method: "DELETE", path: held[index] ?? "" });
      expect(answer.status).toBe(204);
    };
    expect(await statementsOf(gone)).toEqual(readAndCommit);
    const none = () => queue({ method: "GET", path: "/que/messages" });
    expect(await statementsOf(none)).toEqual(["prefetch"]);
  });

  it("concurrent callers share them, also at the head of one queue", async () => {
    const [callers, path] = [24, "/que/messages"];
    const body = Buffer.from("<QueueMessage><MessageText>x</MessageText></QueueMessage>");
    const times = (run: () => Promise<unknown>) =>
      Promise.all(Array.from({ length: callers }, run));
    await times(() => queue({ method: "POST", path, body }));
    statements.length = 0;
    const taken = new Set<string>();
    await times(async () => {
      const text = (await queue({ method: "GET", path })).body.toString();
      taken.add(/<MessageId>(.*?)</.exec(text)?.[1] ?? "none");
    });
    expect(taken.size).toBe(callers);
    expect(statements.length).toBeLessThan(callers);
  });
});
