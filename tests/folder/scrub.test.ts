import { closeSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { adminServer, type AdminServer } from "../admin/admin-server.ts";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const location = temporaryFolder();
const blobs = 3;
const bodyBytes = 3 * 1024 * 1024;
const requestsMax = 100_000;
/** The longest pause of a scrub that has work to do. */
const backgroundMilliseconds = 5000;

/** The value of a metric once it has reached `least`. */
async function metric(admin: AdminServer, name: string, least: number): Promise<number> {
  for (let count = 0; count < requestsMax; count += 1) {
    const text = await (await admin.get("/metrics")).text();
    const value = Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? -1);
    if (value >= least) return value;
  }
  throw new Error(`${name} did not reach ${least}`);
}

it("compares all content with its checksums in the background and counts damage", async () => {
  const options = { location, scrubMegabytesPerSecond: 1000 };
  const first = await adminServer(options);
  const client = rawClient(first.server.urls.blob ?? "");
  await client.send({ method: "PUT", path: "/box?restype=container" });
  for (let index = 0; index < blobs; index += 1) {
    const headers = { "x-ms-blob-type": "BlockBlob" };
    const body = Buffer.alloc(bodyBytes, index + 1);
    await client.send({ method: "PUT", path: `/box/${index}`, headers, body });
  }
  await first.server.stop();

  const second = await adminServer(options, backgroundMilliseconds);
  await metric(second, "etagere_scrub_bytes_total", blobs * bodyBytes);
  expect(await metric(second, "etagere_scrub_problems_total", 0)).toBe(0);
  await second.server.stop();

  const [name = ""] = readdirSync(join(location, "extents"));
  const path = join(location, "extents", name);
  const file = openSync(path, "r+");
  writeSync(file, "damage", Math.floor(statSync(path).size / 2));
  closeSync(file);
  const third = await adminServer(options, backgroundMilliseconds);
  expect(await metric(third, "etagere_scrub_problems_total", 1)).toBe(1);
  await third.server.stop();
});
