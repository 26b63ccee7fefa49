import { writeSync } from "node:fs";
import { join } from "node:path";
import { StoreBusy } from "../../src/store/store.ts";
import { openSharedFixture } from "./shared-content-fixture.ts";
import { whole } from "../../src/content/content-ref.ts";
import { checkSeededBody, seededBody, type ContentFixture } from "./content-fixture.ts";

/** The process that `content/crash.test.ts` kills. It overwrites and reads objects and reclaims
 *  space, and reports each write after it was acknowledged. */
const [location = ""] = process.argv.slice(2);
const callers = 6;
const writesMax = 100_000;
const attemptsMax = 100;

async function readWhole(fixture: ContentFixture, name: string): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    try {
      checkSeededBody(await fixture.read(name));
      return;
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
  }
}

async function overwrite(fixture: ContentFixture, seed: number): Promise<void> {
  const name = `object-${seed % 10}`;
  const received = await fixture.receive(seededBody(seed));
  await fixture.put(name, () => whole(received));
  fixture.content.discard(received);
  writeSync(1, `${seed}\n`);
  await readWhole(fixture, name);
  // Receives a body that no record will refer to, like a request whose process is killed.
  if (seed % 7 === 0) await fixture.receive(seededBody(seed));
  if (seed % 10 === 0) await fixture.content.reclaim();
}

const fixture = await openSharedFixture(join(location), { extentBytes: 128 * 1024 });
let next = 0;
const caller = async (): Promise<void> => {
  while (next < writesMax) await overwrite(fixture, ++next);
};
await Promise.all(Array.from({ length: callers }, caller));
