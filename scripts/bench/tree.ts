// `npm run bench -- --tree`: the CPU time of renaming and deleting a directory with a million files
// below it, in process and on disk. Half of the files are in one directory, the others in
// directories of a thousand. Fails if a rename takes longer than the goal.
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { blobs, type BlobRecord } from "../../src/blob/records.ts";
import { newDirectory } from "../../src/blob/tree/create-parents.ts";
import { emptyContent } from "../../src/content/content-ref.ts";
import { openInProcess } from "./in-process.ts";
import { newFolder } from "./servers.ts";

const { values } = parseArgs({ options: { files: { type: "string", default: "1000000" } } });
const files = Number(values.files);
const filesOfDirectory = 1000;
const putsOfTransaction = 5000;
const rounds = 50;
const warmUpRounds = 10;
const renameMillisecondsMax = 10;
const mebibyte = 1024 * 1024;

const folder = newFolder("tree");
const target = await openInProcess(folder, { hierarchical: true });
const client = target.connect("blob");
const { store } = target.httpService("blob").runtime;
try {
  await build();
  await measure();
} finally {
  await target.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** As records, because a million requests would take minutes. */
async function build(): Promise<void> {
  const began = performance.now();
  await send("PUT", "tree?resource=filesystem", 201);
  await send("PUT", "tree/from?resource=directory", 201);
  const top = await idOf("from");
  let id = 2n ** 40n;
  const newBelow = async (parent: bigint, name: string, count: number): Promise<void> => {
    id += 1n;
    await createDirectory({ parent, name, id });
    await createFiles(id, count);
  };
  const half = Math.floor(files / 2);
  await newBelow(top, "flat", half);
  const directories = Math.ceil((files - half) / filesOfDirectory);
  for (let at = 0; at < directories; at += 1) await newBelow(top, `d${at}`, filesOfDirectory);
  const seconds = (performance.now() - began) / 1000;
  report(`stored ${files} files`, `${seconds.toFixed(0)} s, ${residentMebibytes()} MiB resident`);
}

/** Ids are not part of any response. */
function idOf(name: string): Promise<bigint> {
  return store.snapshot(async (view) => {
    for await (const batch of view.range(blobs.range([]))) {
      for (const { key, value } of batch) {
        const { directory } = blobs.codec.decode(value);
        if (directory !== undefined && blobs.parts(key)[1] === name) return directory;
      }
    }
    throw new Error(`no directory "${name}"`);
  });
}

interface PlacedDirectory {
  readonly parent: bigint;
  readonly name: string;
  readonly id: bigint;
}

function createDirectory({ parent, name, id }: PlacedDirectory): Promise<void> {
  return store.transact((tx) => {
    const record = newDirectory({ id, etag: tx.now, now: tx.now });
    tx.put(blobs.key({ container: parent, name }), blobs.codec.encode(record));
  });
}

async function createFiles(directory: bigint, count: number): Promise<void> {
  for (let from = 0; from < count; from += putsOfTransaction) {
    await store.transact((tx) => {
      const value = blobs.codec.encode(fileOf(tx.now));
      for (let at = from; at < Math.min(count, from + putsOfTransaction); at += 1) {
        tx.put(blobs.key({ container: directory, name: `f${at}` }), value);
      }
    });
  }
}

function fileOf(etag: bigint): BlobRecord {
  const given = { etag, created: etag, content: emptyContent, headers: {}, metadata: [] };
  return { ...given, type: "BlockBlob", writtenBy: "dfs" };
}

async function measure(): Promise<void> {
  const times: number[] = [];
  const residentBefore = residentMebibytes();
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    const [from, to] = round % 2 === 0 ? ["from", "to"] : ["to", "from"];
    const milliseconds = await cpuMillisecondsOf(() => rename(`tree/${from}`, `tree/${to}`));
    if (round >= warmUpRounds) times.push(milliseconds);
    await send("HEAD", `tree/${to}/flat/f0`, 200);
    await send("HEAD", `tree/${from}/flat/f0`, 404);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? Infinity;
  const grown = residentMebibytes() - residentBefore;
  const slowest = (sorted.at(-1) ?? 0).toFixed(2);
  const figures = `median ${median.toFixed(2)} ms of CPU, slowest ${slowest} ms, ${grown} MiB more`;
  report("rename the directory above", figures);
  const last = rounds % 2 === 0 ? "from" : "to";
  const removal = await cpuMillisecondsOf(() => send("DELETE", `tree/${last}?recursive=true`, 200));
  report("delete it", `${removal.toFixed(2)} ms of CPU`);
  await send("HEAD", `tree/${last}/flat/f0`, 404);
  if (median > renameMillisecondsMax) {
    console.error(`a rename must take at most ${renameMillisecondsMax} ms of CPU`);
    process.exitCode = 1;
  }
}

async function cpuMillisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function rename(from: string, to: string): Promise<unknown> {
  const headers = `x-ms-rename-source: /${from}\r\n`;
  return client.send({ method: "PUT", path: `${to}?mode=legacy`, headers, expect: 201 });
}

function send(method: string, path: string, expect: number): Promise<unknown> {
  return client.send({ method, path, expect });
}

function residentMebibytes(): number {
  return Math.round(process.memoryUsage().rss / mebibyte);
}

function report(what: string, figures: string): void {
  console.log(`${what.padEnd(28)} ${figures}`);
}
