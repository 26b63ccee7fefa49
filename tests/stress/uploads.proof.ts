import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startChild } from "../harness/child-server.ts";
import { accountSas, rawClient, version } from "../harness/raw-client.ts";

/** Set by `npm run proof` for its long form. */
const uploads = Number(process.env["ETAGERE_UPLOADS"] ?? 60);
const mebibytes = Number(process.env["ETAGERE_UPLOAD_MEBIBYTES"] ?? 8);
const residentMegabytesMax = 400;
const mebibyte = 1024 * 1024;

/** Sends a body in chunks, as fast as the server reads them. */
function upload(url: string, pieces: number, isCutShort: boolean): Promise<number> {
  const piece = Buffer.alloc(mebibyte, 7);
  return new Promise((resolve, reject) => {
    const headers = {
      "x-ms-version": version,
      "x-ms-blob-type": "BlockBlob",
      "content-length": pieces * mebibyte,
    };
    const sent = request(url, { method: "PUT", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", (error) => (isCutShort ? resolve(0) : reject(error)));
    const send = (left: number): void => {
      if (isCutShort && left <= pieces / 2) return void sent.destroy(new Error("cut short"));
      if (left === 0) return void sent.end();
      if (sent.write(piece)) setImmediate(send, left - 1);
      else sent.once("drain", () => send(left - 1));
      return undefined;
    };
    send(pieces);
  });
}

it(`${uploads} uploads of ${mebibytes} MiB at once stay within bounded memory`, async () => {
  const location = await mkdtemp(join(tmpdir(), "etagere-stress-"));
  const server = await startChild(location);
  const client = rawClient(server.blobUrl);
  await client.send({ method: "PUT", path: "/big?restype=container" });
  const url = (name: string) => `${server.blobUrl}/devstoreaccount1/big/${name}?${accountSas()}`;
  const results = await Promise.all(
    Array.from({ length: uploads }, (_, index) =>
      upload(url(`b${index}`), mebibytes, index % 10 === 9),
    ),
  );
  const whole = results.filter((status) => status === 201).length;
  expect(whole).toBe(uploads - Math.floor(uploads / 10));
  const listing = await client.send({
    method: "GET",
    path: "/big?restype=container&comp=list&include=uncommittedblobs",
  });
  // Interrupted uploads leave nothing visible.
  expect(listing.body.toString().match(/<Name>/g)).toHaveLength(whole);
  const peak = Number(
    /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1],
  );
  console.log(`${whole} uploads of ${mebibytes} MiB, peak resident ${Math.round(peak / 1024)} MB`);
  expect(peak / 1024).toBeLessThan(residentMegabytesMax);
  await server.kill("SIGTERM");
  await rm(location, { recursive: true, force: true });
}, 600_000);
