import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import type { Clock } from "../../base/world.ts";
import { manualClock } from "../manual-clock.ts";
import { silentLog } from "../silent-log.ts";
import { awaitLocation } from "./await-location.ts";
import { StoreInUse } from "./location.ts";

let location = "";
const sign = (): string => join(location, "open", "other.json");
const told: string[] = [];
const log = { ...silentLog, warn: (_: object, message: string) => void told.push(message) };

beforeEach(() => {
  location = mkdtempSync(join(tmpdir(), "location-"));
  mkdirSync(join(location, "open"));
  const place = { bootId: "boot-1", host: "there", namespace: "theirs" };
  writeFileSync(sign(), JSON.stringify({ pid: 1, startTime: "0", ...place, format: 1 }));
  told.length = 0;
});
afterEach(() => rmSync(location, { recursive: true }));

/** Every pause is over at once; `pass` says what happened meanwhile. */
function open(pass: (pauses: number) => void) {
  let pauses = 0;
  const after: Clock["after"] = (_, run) => {
    pauses += 1;
    // What is to go on touching its own file does not matter here.
    if (pauses < 50) queueMicrotask(run);
    pass(pauses);
    return () => undefined;
  };
  const clock = { ...manualClock(), after };
  return awaitLocation({ location, clock, host: "here", namespace: "ours" }, log);
}

it("waits until whoever was killed elsewhere has been silent for long enough", async () => {
  let pausesSeen = 0;
  const claimed = await open((pauses) => {
    pausesSeen = pauses;
    if (pauses === 5) utimesSync(sign(), 0, 0);
  });
  claimed.release();
  expect(claimed.isExclusive).toBe(true);
  expect(pausesSeen).toBeGreaterThanOrEqual(5);
  expect(told).toHaveLength(1);
  expect(told[0]).toContain("another container");
});

it("refuses as soon as the other one shows that it is running", async () => {
  let pausesSeen = 0;
  const refused = open((pauses) => {
    pausesSeen = pauses;
    if (pauses === 3) writeFileSync(sign(), "\n", { flag: "a" });
    if (pauses === 3) utimesSync(sign(), Date.now() / 1000, Date.now() / 1000 + 1);
  });
  await expect(refused).rejects.toThrow(StoreInUse);
  expect(pausesSeen).toBe(3);
});

it("does not wait for ever for one that neither ends nor shows", async () => {
  const refused = open(() => undefined);
  await expect(refused).rejects.toThrow(StoreInUse);
});
