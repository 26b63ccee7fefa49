import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startChild } from "../harness/child-server.ts";
import { rawClient } from "../harness/raw-client.ts";

const mebibyte = 1024 * 1024;
const diskMebibytes = 40;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

const bytesOf = (index: number) => Buffer.alloc(mebibyte, index);

/** A disk of its own that is quickly full; only root may mount one. */
it("a full disk refuses writes in the service's form, keeps every acknowledged byte, recovers", async (context) => {
  const location = mkdtempSync(join(tmpdir(), "etagere-full-"));
  const mounted = spawnSync("mount", [
    "-t",
    "tmpfs",
    "-o",
    `size=${diskMebibytes}m`,
    "tmpfs",
    location,
  ]);
  if (mounted.status !== 0) {
    console.error("\n*** NOT TESTED: a full disk needs the right to mount one ***\n");
    if (process.env["ETAGERE_REQUIRE_ALL"] === "1") throw new Error(String(mounted.stderr));
    rmSync(location, { recursive: true });
    return context.skip();
  }
  try {
    await fillAndRecover(location);
  } finally {
    spawnSync("umount", [location]);
    rmSync(location, { recursive: true, force: true });
  }
  return undefined;
}, 120_000);

async function fillAndRecover(location: string): Promise<void> {
  const server = await startChild(location, ["--silent"]);
  const client = rawClient(server.blobUrl);
  const path = (index: number) => `/full/b${index}`;
  const put = (index: number) =>
    client.send({ method: "PUT", path: path(index), headers: blockBlob, body: bytesOf(index) });
  await client.send({ method: "PUT", path: "/full?restype=container" });
  const stored: number[] = [];
  let refused = 0;
  for (let index = 0; index < diskMebibytes * 2 && refused < 3; index += 1) {
    const answer = await put(index);
    if (answer.status === 201) stored.push(index);
    else {
      expect([answer.status, answer.code]).toEqual([503, "ServerBusy"]);
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(0);
  for (const index of stored) {
    const answer = await client.send({ method: "GET", path: path(index) });
    expect(answer.body.equals(bytesOf(index))).toBe(true);
  }
  await server.kill("SIGKILL");
  const resized = `remount,size=${diskMebibytes * 4}m`;
  expect(spawnSync("mount", ["-o", resized, location]).status).toBe(0);
  const again = await startChild(location, ["--silent"]);
  const reader = rawClient(again.blobUrl);
  for (const index of stored) {
    const answer = await reader.send({ method: "GET", path: path(index) });
    expect(answer.body.equals(bytesOf(index))).toBe(true);
  }
  const later = await reader.send({
    method: "PUT",
    path: "/full/later",
    headers: blockBlob,
    body: "there is room again",
  });
  expect(later.status).toBe(201);
  await again.kill("SIGTERM");
}
