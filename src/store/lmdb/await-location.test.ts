import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import type { Clock } from "../../base/world.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { awaitLocation, StoreInUse } from "./location.ts";

let location = "";
const markerPath = (): string => join(location, "open", "other.json");
const warnings: string[] = [];
const warn = (fields: { readonly err?: Error }): void => {
  warnings.push(fields.err?.message ?? "");
};
const log = { ...silentLog, warn };

beforeEach(() => {
  location = mkdtempSync(join(tmpdir(), "location-"));
  mkdirSync(join(location, "open"));
  const otherProcess = { bootId: "boot-1", host: "there", namespace: "theirs" };
  writeFileSync(
    markerPath(),
    JSON.stringify({ pid: 1, startTime: "0", ...otherProcess, format: 1 }),
  );
  warnings.length = 0;
});
afterEach(() => rmSync(location, { recursive: true }));

/** Opens the location with pauses that end at once; `pass` simulates what happens meanwhile. */
function open(pass: (pauses: number) => void) {
  let pauses = 0;
  const after: Clock["after"] = (_, run) => {
    pauses += 1;
    // Timers that touch the process's own marker file are irrelevant here.
    if (pauses < 50) queueMicrotask(run);
    pass(pauses);
    return () => undefined;
  };
  const clock = { ...manualClock(), after };
  return awaitLocation({ location, clock, host: "here", namespace: "ours" }, log);
}

it("waits until the marker file of a process killed elsewhere has expired", async () => {
  let pausesSeen = 0;
  const claimed = await open((pauses) => {
    pausesSeen = pauses;
    if (pauses === 5) utimesSync(markerPath(), 0, 0);
  });
  claimed.release();
  expect(claimed.isExclusive).toBe(true);
  expect(pausesSeen).toBeGreaterThanOrEqual(5);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("another container");
});

it("fails as soon as the other process touches its marker file", async () => {
  let pausesSeen = 0;
  const refused = open((pauses) => {
    pausesSeen = pauses;
    if (pauses === 3) writeFileSync(markerPath(), "\n", { flag: "a" });
    if (pauses === 3) utimesSync(markerPath(), Date.now() / 1000, Date.now() / 1000 + 1);
  });
  await expect(refused).rejects.toThrow(StoreInUse);
  expect(pausesSeen).toBe(3);
});

it("stops waiting for a marker file that neither changes nor expires", async () => {
  const refused = open(() => undefined);
  await expect(refused).rejects.toThrow(StoreInUse);
});
