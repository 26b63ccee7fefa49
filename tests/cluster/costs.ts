import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whole } from "../../src/content/content-ref.ts";
import { openS3Files } from "../../src/content/s3/open-s3-files.ts";
import type { Credentials } from "../../src/content/s3/signature.ts";
import { openContentFixture, pattern } from "../harness/content-fixture.ts";
import { realClock } from "../../src/host/world.ts";
import { openLmdbStore } from "../../src/store/lmdb/open-lmdb-store.ts";
import { silentLog } from "../harness/silent-log.ts";

const callers = 32;
const perCaller = 8;
const lengths = [1024, 4096, 16_384, 65_536];

/** The storage cost of some body lengths in records and in objects, one line each. */
export async function costsOf(location: string, credentials: Credentials): Promise<string[]> {
  const clock = realClock();
  const folder = mkdtempSync(join(tmpdir(), "etagere-costs-"));
  const store = await openLmdbStore({ location: folder, clock, log: silentLog });
  const files = await openS3Files({ location, credentials, clock });
  const shelf = await openContentFixture({ store, files, clock });
  const put = async (name: string, length: number, inlineBytesMax: number): Promise<void> => {
    const received = await shelf.receive(pattern(length, length), { inlineBytesMax });
    await shelf.put(name, () => whole(received));
    shelf.content.discard(received);
  };
  const lines: string[] = [];
  for (const length of lengths) {
    const inRecord = await timed((name) => put(`r${name}`, length, length));
    const inObjects = await timed((name) => put(`o${name}`, length, 0));
    lines.push(`${length} bytes: in a record ${inRecord}, in objects ${inObjects}`);
  }
  await shelf.content.close();
  files.close();
  await store.close();
  rmSync(folder, { recursive: true });
  return lines;
}

async function timed(put: (name: string) => Promise<void>): Promise<string> {
  const began = performance.now();
  const each = async (_: unknown, caller: number): Promise<void> => {
    for (let count = 0; count < perCaller; count += 1) await put(`${caller}-${count}`);
  };
  await Promise.all(Array.from({ length: callers }, each));
  const perSecond = (1000 * callers * perCaller) / (performance.now() - began);
  return `${Math.round(perSecond)}/s`;
}
