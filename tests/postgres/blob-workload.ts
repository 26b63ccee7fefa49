import { createHash } from "node:crypto";
import type { RawAnswer, RawClient } from "../harness/raw-client.ts";

/** State of a blob with a single writer. `undefined`: absent. */
export interface Known {
  acknowledged: number | undefined;
  /** Sent without a response: executed completely or not at all. */
  unanswered: { readonly value: number | undefined } | undefined;
}

const keysPerClient = 6;
const lengths = [100, 1024, 4096, 5000, 70_000, 300_000];
export const container = "kills";

/** The bytes of one version of a blob; anything else is damage. */
export function bytesOf(key: string, version: number): Buffer {
  const length = lengths[version % lengths.length]!;
  const seed = createHash("sha256").update(`${key}:${version}`).digest("hex");
  return Buffer.from(
    `${version}\n${seed.repeat(Math.ceil(length / seed.length))}`.slice(0, length),
  );
}

/**
 * Puts, replaces, composes from blocks and deletes, one request at a time, until it is stopped or
 * the server dies.
 */
export class KillClient {
  readonly #id: number;
  #version = 0;
  readonly blobs = new Map<string, Known>();
  acknowledgedWrites = 0;

  constructor(id: number) {
    this.#id = id;
  }

  async run(client: RawClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#version += 1;
      const key = `client-${this.#id}/blob-${this.#version % keysPerClient}`;
      const known = this.blobs.get(key) ?? { acknowledged: undefined, unanswered: undefined };
      this.blobs.set(key, known);
      const value = this.#version % 11 === 0 ? undefined : this.#version;
      known.unanswered = { value };
      try {
        await this.#write(client, key, value);
      } catch {
        return;
      }
      known.acknowledged = value;
      known.unanswered = undefined;
      this.acknowledgedWrites += 1;
    }
  }

  async #write(client: RawClient, key: string, value: number | undefined): Promise<void> {
    const path = `/${container}/${key}`;
    if (value === undefined) {
      expectStatus(await client.send({ method: "DELETE", path }), 202, 404);
    } else if (value % 3 === 0) {
      await composeFromBlocks(client, path, bytesOf(key, value));
    } else {
      const headers = { "x-ms-blob-type": "BlockBlob" };
      const body = bytesOf(key, value);
      expectStatus(await client.send({ method: "PUT", path, headers, body }), 201);
    }
  }

  /**
   * After a restart: every blob has the acknowledged state, or that of the write without a
   * response.
   */
  async check(client: RawClient): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [key, known] of this.blobs) {
      const answer = await client.send({ method: "GET", path: `/${container}/${key}` });
      const allowed = [known.acknowledged];
      if (known.unanswered !== undefined) allowed.push(known.unanswered.value);
      const found = allowed.findIndex((version) => matches(answer, key, version));
      if (found < 0) problems.push(describe(key, known, answer));
      known.acknowledged = allowed[Math.max(found, 0)];
      known.unanswered = undefined;
    }
    return problems;
  }
}

async function composeFromBlocks(client: RawClient, path: string, bytes: Buffer): Promise<void> {
  const half = Math.ceil(bytes.length / 2);
  const ids = ["a", "b"].map((name) => Buffer.from(name).toString("base64"));
  for (const [index, id] of ids.entries()) {
    const body = bytes.subarray(index * half, (index + 1) * half);
    const block = `${path}?comp=block&blockid=${encodeURIComponent(id)}`;
    expectStatus(await client.send({ method: "PUT", path: block, body }), 201);
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const body = `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`;
  expectStatus(await client.send({ method: "PUT", path: `${path}?comp=blocklist`, body }), 201);
}

function expectStatus(answer: RawAnswer, ...allowed: readonly number[]): void {
  if (!allowed.includes(answer.status)) {
    throw new Error(`status ${answer.status} ${answer.code}: ${answer.body.toString()}`);
  }
}

function matches(answer: RawAnswer, key: string, version: number | undefined): boolean {
  if (version === undefined) return answer.status === 404;
  return answer.status === 200 && answer.body.equals(bytesOf(key, version));
}

function describe(key: string, known: Known, answer: RawAnswer): string {
  const found = answer.body.subarray(0, 20).toString();
  const said = JSON.stringify(known);
  return `${key}: ${said}, found ${answer.status} ${answer.body.length} bytes ${found}`;
}
