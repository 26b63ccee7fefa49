import { pattern } from "../harness/content-fixture.ts";
import type { RawClient } from "../harness/raw-client.ts";

const writersCount = 6;

/** Uploads of many sizes by several writers, recorded once they are acknowledged. */
export class Load {
  readonly lost: string[] = [];
  readonly corrupt: string[] = [];
  isOver = false;
  #blob: RawClient;
  /** Distinguishes the names of several loads. */
  readonly #first: number;
  readonly #acknowledged = new Map<string, number>();
  #refused = 0;
  #bytes = 0;

  constructor(blob: RawClient, first = 0) {
    this.#blob = blob;
    this.#first = first;
  }

  /** The current URL of the server. */
  turnTo(blob: RawClient): void {
    this.#blob = blob;
  }

  async run(): Promise<void> {
    const writers = Array.from({ length: writersCount }, (_, writer) => this.#write(writer));
    await Promise.all(writers);
  }

  async untilMoreAreDone(count: number): Promise<void> {
    const enough = this.#acknowledged.size + count;
    while (this.#acknowledged.size < enough) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async check(): Promise<void> {
    for (const [name, seed] of this.#acknowledged) {
      const { status, body } = await this.#patiently(() => this.#send("GET", name));
      if (status !== 200) this.lost.push(`${name}: ${status}`);
      else if (Buffer.compare(body, bodyOf(seed)) !== 0) this.corrupt.push(name);
    }
  }

  summary(): string {
    const counts = `${this.#acknowledged.size} acknowledged, ${this.#refused} refused with 503`;
    return `uploads: ${counts}, ${Math.round(this.#bytes / 1024 / 1024)} MiB; all read back`;
  }

  async #write(writer: number): Promise<void> {
    for (let count = 0; !this.isOver; count += 1) {
      const seed = writer * 1_000_000 + this.#first + count;
      const body = bodyOf(seed);
      const status = await this.#put(`b${seed}`, body);
      if (status === 201) {
        this.#acknowledged.set(`b${seed}`, seed);
        this.#bytes += body.length;
      } else if (status === 503) this.#refused += 1;
      else if (status === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      else throw new Error(`an upload was answered ${status}`);
    }
  }

  /** 0 if the connection was lost and the outcome is unknown. */
  async #put(name: string, body: Uint8Array): Promise<number> {
    try {
      return (await this.#send("PUT", name, body)).status;
    } catch {
      return 0;
    }
  }

  #send(method: string, name: string, body?: Uint8Array) {
    const headers = { "x-ms-blob-type": "BlockBlob" };
    const path = `/ccc/${name}`;
    return this.#blob.send({ method, path, headers, ...(body && { body }) });
  }

  async #patiently(ask: () => ReturnType<RawClient["send"]>): ReturnType<RawClient["send"]> {
    for (let tries = 0; ; tries += 1) {
      const answer = await ask();
      if (answer.status !== 503 || tries === 20) return answer;
    }
  }
}

/** From inline content to several parts. */
function bodyOf(seed: number): Uint8Array {
  const lengths = [3000, 9000, 70_000, 500_000, 5_000_000];
  return pattern(lengths[seed % lengths.length] ?? 0, seed);
}
