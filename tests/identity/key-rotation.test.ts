import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IdentityFile } from "../../src/server/identity-file.ts";
import { simWorld } from "../harness/sim-world.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const dayMilliseconds = 24 * 3_600_000;
/** A key signs for 30 days. */
const daysUntilRotation = 31;

function fileIn(location: string | undefined, seed = 1) {
  const { clock, random } = simWorld(seed);
  return { clock, file: new IdentityFile({ location, clock, random }) };
}

const signerOf = async (file: IdentityFile): Promise<string | undefined> =>
  (await file.loadForSigning()).keys[0]?.id;

describe.each([
  ["in memory", () => undefined],
  ["in a data folder", temporaryFolder],
])("keys of the local token service %s", (_title, locate) => {
  it("rotate once for requests that arrive together", async () => {
    const { file, clock } = fileIn(locate());
    const first = await signerOf(file);
    clock.advance(daysUntilRotation * dayMilliseconds);
    const signers = await Promise.all([1, 2, 3, 4].map(() => signerOf(file)));
    expect(new Set(signers).size).toBe(1);
    expect(signers[0]).not.toBe(first);
    const { keys } = await file.load();
    expect(keys.map(({ id }) => id)).toEqual([signers[0], first]);
    expect(file.keys.find(first)).toBeDefined();
    expect(file.keys.find(signers[0])).toBeDefined();
  });
});

it("processes on one folder that rotate at the same time agree on one key", async () => {
  const location = temporaryFolder();
  const processes = [1, 2, 3, 4, 5].map((seed) => fileIn(location, seed));
  const first = await Promise.all(processes.map(({ file }) => signerOf(file)));
  expect(new Set(first).size).toBe(1);
  for (const { clock } of processes) clock.advance(daysUntilRotation * dayMilliseconds);
  await Promise.all(processes.map(({ file }) => signerOf(file)));
  // Each signs with a key that is in the file, and no other file is left behind.
  const { keys } = await fileIn(location, 9).file.load();
  const published = keys.map(({ id }) => id);
  const signers = await Promise.all(processes.map(({ file }) => signerOf(file)));
  expect(new Set(signers)).toEqual(new Set([published[0]]));
  expect(published).toHaveLength(2);
  expect(readdirSync(join(location, "identity"))).toEqual(["identity.json"]);
});
