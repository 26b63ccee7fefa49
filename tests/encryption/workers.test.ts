import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { readMasterKey } from "../../src/host/master-key.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { freshConnections, startWorkers, untilAllAnswered } from "../workers/worker-server.ts";
import { hidden, planted } from "./plant.ts";

/** The test starts four processes. */
const timeoutMilliseconds = 180_000;
const folder = temporaryFolder();
const blockBlob = { "x-ms-blob-type": "BlockBlob" };
/** In the record, in one chunk of an extent, and in several. */
const lengths = [100, 30_000, 600_000];
const saltBytes = 12;

/** The salts of sealed contents in the extents of a folder. A header is the kind 2, the data key 1,
 *  the salt and a small counter. */
function contentSalts(location: string): ReadonlySet<string> {
  const extents = join(location, "extents");
  const salts = new Set<string>();
  for (const name of readdirSync(extents)) {
    const bytes = readFileSync(join(extents, name));
    const [kind, counter] = [Buffer.from([2, 0, 0, 1]), Buffer.alloc(6)];
    for (let at = bytes.indexOf(kind); at >= 0; at = bytes.indexOf(kind, at + 1)) {
      const afterSalt = at + kind.length + saltBytes;
      if (!bytes.subarray(afterSalt, afterSalt + counter.length).equals(counter)) continue;
      salts.add(bytes.toString("hex", at + kind.length, afterSalt));
    }
  }
  return salts;
}

it(
  "workers read what the others and killed ones have encrypted, each with keys of its own",
  async () => {
    const location = join(folder, "data");
    const keyFile = join(folder, "master.key");
    writeFileSync(keyFile, randomBytes(32).toString("base64"));
    const encryption = `file:${keyFile}`;
    const server = await startWorkers(location, `--encryption=${encryption}`);
    const blob = freshConnections(server.urlOf("blob"));
    const container = await blob.send({ method: "PUT", path: "/shared?restype=container" });
    expect(container.status).toBe(201);

    const paths = new Map<string, string>();
    const put = async (length: number): Promise<number> => {
      const path = `/shared/${paths.size}`;
      const body = planted(length);
      paths.set(path, body);
      return (await blob.send({ method: "PUT", path, headers: blockBlob, body })).status;
    };
    /** Until each worker has stored contents of each length. */
    const putAll = async (): Promise<void> => {
      for (const length of lengths) {
        const statuses = await untilAllAnswered(server, () => put(length));
        expect(new Set(statuses)).toEqual(new Set([201]));
      }
    };
    const readAll = async (): Promise<void> => {
      for (const [path, body] of paths) {
        const { status, body: found } = await blob.send({ method: "GET", path });
        expect([status, found.toString() === body], path).toEqual([200, true]);
      }
    };
    await putAll();
    await untilAllAnswered(server, async () => (await readAll(), 200));

    const killed = (await server.workers()).processes[0]?.pid ?? 0;
    process.kill(killed, "SIGKILL");
    await server.workersUntil(
      ({ processes }) => processes.length === 2 && processes.every(({ pid }) => pid !== killed),
    );
    await putAll();
    await untilAllAnswered(server, async () => (await readAll(), 200));
    expect(await server.end()).toBe(0);

    // Two workers and the one that replaced the first.
    expect(contentSalts(location).size).toBe(3);
    const files = readdirSync(location, { recursive: true, withFileTypes: true });
    for (const { parentPath, name } of files.filter((each) => each.isFile())) {
      expect(readFileSync(join(parentPath, name)).includes(hidden), name).toBe(false);
    }
    const master = await readMasterKey(encryption);
    const check = await checkFolder({ location, clock: realClock(), log: silentLog, master });
    expect(check.problems).toEqual([]);
  },
  timeoutMilliseconds,
);
