import { writeSync } from "node:fs";
import { join } from "node:path";
import { StoreBusy } from "../store/store.ts";
import { openSharedShelf } from "./shared-content-fixture.ts";
import { whole } from "./plan.ts";
import { checkStamped, stamped, type ContentFixture } from "./testing.ts";

/** The process that `crash.test.ts` kills: overwrites objects, reads them and gives space back, and
 *  reports each write after it was acknowledged. */
const [location = ""] = process.argv.slice(2);
const callers = 6;
const writesMax = 100_000;
const attemptsMax = 100;

async function readWhole(shelf: ContentFixture, name: string): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    try {
      checkStamped(await shelf.read(name));
      return;
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
  }
}

async function overwrite(shelf: ContentFixture, seed: number): Promise<void> {
  const name = `object-${seed % 10}`;
  const received = await shelf.receive(stamped(seed));
  await shelf.put(name, () => whole(received));
  shelf.content.discard(received);
  writeSync(1, `${seed}\n`);
  await readWhole(shelf, name);
  // Synced, but never owned: what a request leaves behind when its process dies.
  if (seed % 7 === 0) await shelf.receive(stamped(seed));
  if (seed % 10 === 0) await shelf.content.reclaim();
}

const shelf = await openSharedShelf(join(location), { extentBytes: 128 * 1024 });
let next = 0;
const caller = async (): Promise<void> => {
  while (next < writesMax) await overwrite(shelf, ++next);
};
await Promise.all(Array.from({ length: callers }, caller));
