import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { Bucket, parseBucketLocation } from "../../src/content/s3/bucket.ts";
import { realClock } from "../../src/host/world.ts";
import { startChild, type ChildServer } from "../harness/child-server.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { openBalancer, type Balancer } from "./balancer.ts";
import { openCeph, type Ceph } from "./ceph.ts";
import { costsOf } from "./costs.ts";
import { Load } from "./load.ts";

/** Takes minutes and needs Debian's Ceph: `npm run test:cluster`. */
const isAsked = process.env["ETAGERE_CLUSTER"] === "1";
const location = temporaryFolder();
const minutes = 60_000;

describe.skipIf(!isAsked)("content in Ceph", { timeout: 15 * minutes }, () => {
  let ceph: Ceph;
  let balancer: Balancer;
  let server: ChildServer;
  let blob: RawClient;

  const contentUrl = () => `s3://shelves/x?endpoint=${encodeURIComponent(balancer.url)}&cache=0`;
  const flags = () => [`--content=${contentUrl()}`, "--silent"];

  beforeAll(async () => {
    ceph = await openCeph();
    balancer = await openBalancer(ceph.gatewayPorts);
    await makeBucket(contentUrl(), ceph);
    process.env["AWS_ACCESS_KEY_ID"] = ceph.credentials.accessKeyId;
    process.env["AWS_SECRET_ACCESS_KEY"] = ceph.credentials.secretAccessKey;
    server = await startChild(location, flags());
    blob = rawClient(server.blobUrl);
    await blob.send({ method: "PUT", path: "/ccc?restype=container" });
  }, 10 * minutes);

  afterAll(async () => {
    await server?.kill("SIGKILL");
    await balancer?.close();
    await ceph?.stop();
  }, minutes);

  it("survives the loss of a storage daemon and of gateways without loss or corruption", async () => {
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
    await checkAll(load, running);
  });

  it("survives the death of the server that uploads it", async () => {
    const load = new Load(blob, 1000);
    const running = load.run();
    for (let round = 0; round < 3; round += 1) {
      await load.untilMoreAreDone(20);
      await server.kill("SIGKILL");
      server = await startChild(location, flags());
      load.turnTo(rawClient(server.blobUrl));
    }
    await load.untilMoreAreDone(20);
    await checkAll(load, running);
  });

  it("is stored in shared objects if it is small", async () => {
    const bucket = `s3://shelves/costs?endpoint=${encodeURIComponent(balancer.url)}`;
    for (const line of await costsOf(bucket, ceph.credentials)) process.stdout.write(`${line}\n`);
  });
});

async function checkAll(load: Load, running: Promise<void>): Promise<void> {
  load.isOver = true;
  await running;
  await load.check();
  process.stdout.write(`${load.summary()}\n`);
  expect(load.lost).toEqual([]);
  expect(load.corrupt).toEqual([]);
}

async function makeBucket(content: string, { credentials }: Ceph): Promise<void> {
  const bucket = new Bucket({ ...parseBucketLocation(content), credentials, clock: realClock() });
  await bucket.send({ method: "PUT" }, [200]);
  bucket.close();
}
