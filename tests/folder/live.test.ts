import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { backupFolder } from "../../src/commands/folder-backup.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { startChild } from "../harness/child-server.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { fill } from "./fill.ts";
import { inForm } from "../harness/long-form.ts";

const block = { "x-ms-blob-type": "BlockBlob" };
const writers = 4;
const blobsEach = 5;
const copies = inForm(1, 3);
const checks = inForm(1, 3);
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-live-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const common = () => ({ clock: realClock(), log: silentLog });

/** Two blobs that change in turn: the second contains the previous text of the first. */
async function write(client: RawClient, writer: number, isOver: () => boolean): Promise<void> {
  for (let round = 1; !isOver(); round += 1) {
    const path = `/pairs/${writer}-${round % blobsEach}`;
    const body = `${round}|`.repeat(20_000);
    for (const name of ["a", "b"]) {
      const { status } = await client.send({
        method: "PUT",
        path: `${path}${name}`,
        headers: block,
        body,
      });
      if (status !== 201) throw new Error(`status ${status}`);
    }
  }
}

const roundIn = (text: string): number => Number(text.slice(0, text.indexOf("|")));

/** Every blob is whole, and the second of a pair is never newer than the first. */
async function brokenPairs(client: RawClient): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let writer = 0; writer < writers; writer += 1) {
    for (let index = 0; index < blobsEach; index += 1) {
      const path = `/pairs/${writer}-${index}`;
      const [first = -1, second = -1] = await Promise.all(
        ["a", "b"].map(async (name) => {
          const { status, body } = await client.send({ method: "GET", path: `${path}${name}` });
          if (status === 404) return 0;
          const text = body.toString();
          const round = roundIn(text);
          if (text !== `${round}|`.repeat(20_000)) problems.push(`${path}${name} is torn`);
          return round;
        }),
      );
      const isOneMoment = first === second || first === second + blobsEach || second === 0;
      if (!isOneMoment) problems.push(`${path}: ${first} and ${second} are not of one moment`);
    }
  }
  return problems;
}

it("1 durable: a folder is copied and checked while clients write to it", async () => {
  const location = join(folder, "data");
  const server = await startChild(location);
  const client = rawClient(server.blobUrl);
  await client.send({ method: "PUT", path: "/pairs?restype=container" });
  let isOver = false;
  const writing = Array.from({ length: writers }, (_, id) => write(client, id, () => isOver));
  const soundness: number[] = [];
  for (let count = 0; count < copies; count += 1) {
    await backupFolder({ location, to: join(folder, `copy${count}`), ...common() });
  }
  for (let count = 0; count < checks; count += 1) {
    soundness.push((await checkFolder({ location, ...common() })).problemCount);
  }
  isOver = true;
  await Promise.all(writing);
  await server.kill("SIGTERM");
  expect(soundness).toEqual(Array.from({ length: checks }, () => 0));
  for (let count = 0; count < copies; count += 1) {
    const copy = join(folder, `copy${count}`);
    expect((await checkFolder({ location: copy, ...common() })).problems).toEqual([]);
    const served = await startChild(copy);
    expect(await brokenPairs(rawClient(served.blobUrl))).toEqual([]);
    await served.kill("SIGTERM");
  }
});

it("1 durable: a backup can be served and written to", async () => {
  const location = join(folder, "data");
  const server = await startChild(location);
  await fill(server.urls, "one");
  const to = join(folder, "copy");
  await backupFolder({ location, to, ...common() });
  await server.kill("SIGKILL");
  const served = await startChild(to);
  const { body } = await rawClient(served.blobUrl).send({ method: "GET", path: "/oneblobs/large" });
  expect(body.toString()).toBe("m".repeat(200_000));
  await fill(served.urls, "two");
  await served.kill("SIGTERM");
  const report = await checkFolder({ location: to, ...common() });
  expect(report.problems).toEqual([]);
  expect(report.records.get("blobs")).toBe(8);
});

it("a backup rejects a target with files and a source without data", async () => {
  const full = join(folder, "full");
  await mkdir(full);
  await writeFile(join(full, "mine"), "");
  const from = join(folder, "nothing");
  await expect(backupFolder({ location: from, to: full, ...common() })).rejects.toThrow(
    /not empty/,
  );
  const to = join(folder, "new");
  await expect(backupFolder({ location: from, to, ...common() })).rejects.toThrow(
    /not a data folder/,
  );
  expect(await readdir(folder)).toEqual(["full"]);
});
