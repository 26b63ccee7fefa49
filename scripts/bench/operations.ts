import { randomBytes } from "node:crypto";
import { headerOf } from "./connection.ts";
import type { Answer, Connection } from "./connection.ts";
import type { Target } from "./target.ts";

/** What one worker does again and again; it knows its number, so that workers can keep apart. */
export type Step = (worker: Worker) => Promise<void>;

export interface Worker {
  readonly connection: Connection;
  readonly index: number;
  readonly count: number;
}

/** Prepares a server and returns the step to measure. Names carry the prefix of this run. */
export type Scenario = (target: Target, prefix: string) => Promise<Step>;

const objects = 1000;
const listed = 5000;
const kilobyte = randomBytes(1024);
const megabyte = randomBytes(1024 * 1024);
const eightMegabytes = randomBytes(8 * 1024 * 1024);

export const scenarios: Readonly<Record<string, Scenario>> = {
  "put-1k": async (target, prefix) => {
    await createContainer(target, prefix);
    let next = 0;
    return async ({ connection }) => void (await put(target, connection, `${prefix}/o${next++}`));
  },
  "get-1k": async (target, prefix) => {
    await fillContainer(target, prefix);
    let next = 0;
    return ({ connection }) => get(target, connection, `${prefix}/o${next++ % objects}`, 1024);
  },
  "put-1m": async (target, prefix) => {
    await createContainer(target, prefix);
    let next = 0;
    return async ({ connection }) =>
      void (await put(target, connection, `${prefix}/o${next++ % 64}`, megabyte));
  },
  "get-8m": async (target, prefix) => {
    await createContainer(target, prefix);
    await put(target, target.connect(), `${prefix}/o`, eightMegabytes);
    return ({ connection }) => get(target, connection, `${prefix}/o`, eightMegabytes.length);
  },
  "list-5000": listAll,
  "cas-1000": compareAndSwapApart,
  "cas-hot": compareAndSwapTogether,
  lease: acquireAndRelease,
};

async function createContainer(target: Target, name: string): Promise<void> {
  const connection = target.connect();
  const path = `${name}?restype=container`;
  await target.send(connection, { method: "PUT", path, expect: [201] });
  connection.close();
}

async function fillContainer(target: Target, name: string): Promise<readonly string[]> {
  await createContainer(target, name);
  const etags: string[] = [];
  await target.fill(objects, async (connection, index) => {
    etags[index] = etagOf(await put(target, connection, `${name}/o${index}`));
  });
  return etags;
}

function put(target: Target, connection: Connection, path: string, body = kilobyte) {
  const headers = { "x-ms-blob-type": "BlockBlob" };
  return target.send(connection, { method: "PUT", path, headers, body, expect: [201] });
}

async function get(target: Target, connection: Connection, path: string, length: number) {
  const answer = await target.send(connection, { method: "GET", path, expect: [200] });
  if (answer.body.length !== length) throw new Error(`short body: ${answer.body.length}`);
}

async function listAll(target: Target, prefix: string): Promise<Step> {
  await createContainer(target, prefix);
  await target.fill(listed, (connection, index) =>
    put(target, connection, `${prefix}/folder${index % 50}/o${index}`),
  );
  const path = `${prefix}?restype=container&comp=list&maxresults=${listed}`;
  return async ({ connection }) => {
    const { body } = await target.send(connection, { method: "GET", path, expect: [200] });
    if (body.length < listed * 100) throw new Error(`short list: ${body.length} bytes`);
  };
}

/** Each worker swaps objects of its own: every swap must succeed. */
async function compareAndSwapApart(target: Target, prefix: string): Promise<Step> {
  const etags = [...(await fillContainer(target, prefix))];
  let next = 0;
  return async (worker) => {
    const index = ownObject(worker, next++);
    const path = `${prefix}/o${index}?comp=metadata`;
    const headers = { "If-Match": etags[index] ?? "", "x-ms-meta-n": String(next) };
    const { connection } = worker;
    const answer = await target.send(connection, { method: "PUT", path, headers, expect: [200] });
    etags[index] = etagOf(answer);
  };
}

/** All workers swap the same object: one step is one success, however many refusals it took. */
async function compareAndSwapTogether(target: Target, prefix: string): Promise<Step> {
  await fillContainer(target, prefix);
  const etags = new WeakMap<Connection, string>();
  let next = 0;
  return async ({ connection }) => {
    for (;;) {
      const known =
        etags.get(connection) ??
        etagOf(
          await target.send(connection, { method: "HEAD", path: `${prefix}/o0`, expect: [200] }),
        );
      const path = `${prefix}/o0?comp=metadata`;
      const headers = { "If-Match": known, "x-ms-meta-n": String(next++) };
      const expect = [200, 412];
      const answer = await target.send(connection, { method: "PUT", path, headers, expect });
      if (answer.status === 200) return void etags.set(connection, etagOf(answer));
      etags.delete(connection);
    }
  };
}

async function acquireAndRelease(target: Target, prefix: string): Promise<Step> {
  await fillContainer(target, prefix);
  let next = 0;
  return async (worker) => {
    const path = `${prefix}/o${ownObject(worker, next++)}?comp=lease`;
    const { connection } = worker;
    const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
    const acquired = { method: "PUT", path, headers: acquire, expect: [201] };
    const { head } = await target.send(connection, acquired);
    const id = headerOf(head, "x-ms-lease-id") ?? "";
    const release = { "x-ms-lease-action": "release", "x-ms-lease-id": id };
    await target.send(connection, { method: "PUT", path, headers: release, expect: [200] });
  };
}

function ownObject({ index, count }: Worker, turn: number): number {
  const span = Math.floor(objects / count);
  return index * span + (turn % span);
}

function etagOf({ head }: Answer): string {
  return headerOf(head, "etag") ?? "";
}
