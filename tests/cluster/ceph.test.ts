import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bucket } from "../../src/content/s3/bucket.ts";
import { parseBucketLocation } from "../../src/content/s3/bucket-location.ts";
import { pattern } from "../../src/content/testing.ts";
import { realClock } from "../../src/server/world.ts";
import { startChild, type ChildServer } from "../harness/child-server.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { openBalancer, type Balancer } from "./balancer.ts";
import { openCeph, type Ceph } from "./ceph.ts";

/** Takes minutes, and a Ceph from Debian: `npm run test:cluster`. */
const isAsked = process.env["ETAGERE_CLUSTER"] === "1";
const writersCount = 6;
const location = mkdtempSync(join(tmpdir(), "etagere-cluster-"));
const minutes = 60_000;

describe.skipIf(!isAsked)("contents in Ceph", { timeout: 15 * minutes }, () => {
  let ceph: Ceph;
  let balancer: Balancer;
  let server: ChildServer;
  let blob: RawClient;

  beforeAll(async () => {
    ceph = await openCeph();
    balancer = await openBalancer(ceph.gatewayPorts);
    const content = `s3://shelves/x?endpoint=${encodeURIComponent(balancer.url)}&cache=0`;
    await makeBucket(content, ceph);
    process.env["AWS_ACCESS_KEY_ID"] = ceph.credentials.accessKeyId;
    process.env["AWS_SECRET_ACCESS_KEY"] = ceph.credentials.secretAccessKey;
    server = await startChild(location, [`--content=${content}`, "--silent"]);
    blob = rawClient(server.blobUrl);
    await blob.send({ method: "PUT", path: "/ccc?restype=container" });
  }, 10 * minutes);

  afterAll(async () => {
    await server?.kill("SIGKILL");
    await balancer?.close();
    await ceph?.stop();
    rmSync(location, { recursive: true, force: true });
  }, minutes);

  it("come through the loss of a store and of gateways: none is lost, none is corrupt", async () => {
    const load = new Load(blob);
    const running = load.run();
    await load.untilMoreAreDone(30);
    await ceph.killStore(1);
    await load.untilMoreAreDone(30);
    await ceph.killGateway(0);
    await load.untilMoreAreDone(30);
    await ceph.startGateway(0);
    await ceph.killGateway(1);
    await load.untilMoreAreDone(30);
    await ceph.startStore(1);
    await ceph.startGateway(1);
    await load.untilMoreAreDone(30);
    load.isOver = true;
    await running;
    await load.check();
    process.stdout.write(`${load.summary()}\n`);
    expect(load.lost).toEqual([]);
    expect(load.corrupt).toEqual([]);
  });
});

async function makeBucket(content: string, { credentials }: Ceph): Promise<void> {
  const bucket = new Bucket({ ...parseBucketLocation(content), credentials, clock: realClock() });
  await bucket.send({ method: "PUT" }, [200]);
  bucket.close();
}

/** Uploads of many sizes by several writers, remembered once they are acknowledged. */
class Load {
  readonly lost: string[] = [];
  readonly corrupt: string[] = [];
  isOver = false;
  readonly #blob: RawClient;
  readonly #acknowledged = new Map<string, number>();
  #refused = 0;
  #bytes = 0;

  constructor(blob: RawClient) {
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
      const seed = writer * 1_000_000 + count;
      const body = bodyOf(seed);
      const { status } = await this.#send("PUT", `b${seed}`, body);
      if (status === 201) {
        this.#acknowledged.set(`b${seed}`, seed);
        this.#bytes += body.length;
      } else if (status === 503) this.#refused += 1;
      else throw new Error(`an upload was answered ${status}`);
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

/** From what a record holds to several parts. */
function bodyOf(seed: number): Uint8Array {
  const lengths = [3000, 9000, 70_000, 500_000, 5_000_000];
  return pattern(lengths[seed % lengths.length] ?? 0, seed);
}
