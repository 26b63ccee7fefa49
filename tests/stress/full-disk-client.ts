import { expect } from "vitest";
import type { RawClient } from "../harness/raw-client.ts";

const kibibyte = 1024;
/** The last two are stored inline, the first two in extents. */
const sizes = [1024 * kibibyte, 100 * kibibyte, 3 * kibibyte, kibibyte];
const atOnce = 8;
const putsMax = 20_000;
const refusalsInARow = 4 * atOnce;
const acceptSecondsMax = 120;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

/** Records acknowledged writes and checks that the server has them. */
export class FullDiskClient {
  #client: RawClient;
  readonly #stored = new Map<number, number>();
  /** Rejected or deleted: must be absent. */
  readonly #absent = new Set<number>();
  #next: number;

  constructor(client: RawClient, seed: number) {
    this.#client = client;
    this.#next = seed;
  }

  moveTo(client: RawClient): void {
    this.#client = client;
  }

  async prepare(): Promise<void> {
    const made = await this.#client.send({ method: "PUT", path: "/full?restype=container" });
    expect(made.status).toBe(201);
  }

  async putUntilRefused(): Promise<void> {
    let refused = 0;
    for (let count = 0; count < putsMax && refused < refusalsInARow; count += atOnce) {
      const results = await Promise.all(Array.from({ length: atOnce }, () => this.#put()));
      const isAnyStored = results.some((isStored) => isStored);
      refused = isAnyStored ? 0 : refused + atOnce;
    }
    expect(refused).toBeGreaterThan(0);
  }

  /** Writes each kind of content as soon as the space of deleted content is available. */
  async putUntilAccepted(): Promise<void> {
    for (let kind = 0; kind < sizes.length; kind += 1) {
      const until = performance.now() + acceptSecondsMax * 1000;
      let isStored = false;
      while (!isStored && performance.now() < until) isStored = await this.#put(kind);
      expect(isStored, `${sizes[kind]} bytes are accepted again`).toBe(true);
    }
  }

  async expectAll(): Promise<void> {
    for (const [index, size] of this.#stored) {
      const found = await this.#client.send({ method: "GET", path: pathOf(index) });
      expect([index, found.status]).toEqual([index, 200]);
      expect(found.body.equals(bytesOf(index, size))).toBe(true);
    }
    for (const index of [...this.#absent].slice(-refusalsInARow)) {
      const found = await this.#client.send({ method: "HEAD", path: pathOf(index) });
      expect([index, found.status]).toEqual([index, 404]);
    }
  }

  /** Deletes always succeed, also many at once. */
  async deleteSome(share: number): Promise<void> {
    const indexes = [...this.#stored.keys()];
    const chosen = indexes.slice(0, Math.ceil(indexes.length * share));
    for (let from = 0; from < chosen.length; from += 8 * atOnce) {
      const part = chosen.slice(from, from + 8 * atOnce);
      const answers = await Promise.all(
        part.map((index) => this.#client.send({ method: "DELETE", path: pathOf(index) })),
      );
      expect(answers.map(({ status }) => status)).toEqual(part.map(() => 202));
      for (const index of part) {
        this.#stored.delete(index);
        this.#absent.add(index);
      }
    }
  }

  async #put(kind?: number): Promise<boolean> {
    const index = (this.#next += 1);
    const size = sizes[(kind ?? index) % sizes.length] ?? kibibyte;
    const body = bytesOf(index, size);
    const sent = { method: "PUT", path: pathOf(index), headers: blockBlob, body };
    const answer = await this.#client.send(sent);
    if (answer.status === 201) this.#stored.set(index, size);
    else {
      expect([answer.status, answer.code]).toEqual([503, "ServerBusy"]);
      this.#absent.add(index);
    }
    return answer.status === 201;
  }
}

function pathOf(index: number): string {
  return `/full/b${index}`;
}

function bytesOf(index: number, size: number): Buffer {
  return Buffer.alloc(size, `${index} `);
}
