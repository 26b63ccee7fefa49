import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { identifyProcess } from "../processes.ts";
import {
  StoreDamaged,
  StoreInUse,
  StoreTooNew,
  claimLocation,
  formatVersion,
  writeFormat,
} from "./location.ts";

let location = "";
beforeEach(() => {
  location = mkdtempSync(join(tmpdir(), "location-"));
});
afterEach(() => rmSync(location, { recursive: true }));

const own = (): string[] => readdirSync(join(location, "open"));
const clock = manualClock();
const claim = (options: object = {}): ReturnType<typeof claimLocation> =>
  claimLocation({ location, clock, host: "here", namespace: "ours", ...options });

function leaveMarker(fields: object, isExpired = false): void {
  const path = join(location, "open", "other.json");
  mkdirSync(join(location, "open"), { recursive: true });
  const place = { bootId: "boot-1", host: "here", namespace: "ours" };
  const opener = { pid: 1, startTime: "0", ...place, format: formatVersion, ...fields };
  writeFileSync(path, JSON.stringify(opener));
  if (isExpired) utimesSync(path, 0, 0);
}

describe("claimLocation", () => {
  it("is exclusive, then shared, then exclusive again", () => {
    const first = claim();
    expect(first.isExclusive).toBe(true);
    const second = claim();
    expect(second.isExclusive).toBe(false);
    first.release();
    second.release();
    expect(own()).toEqual([]);
    const third = claim();
    expect(third.isExclusive).toBe(true);
    third.release();
  });

  it("rejects a location written by a newer release", () => {
    writeFormat(location, 2);
    expect(() => claim({ format: 1 })).toThrow(StoreTooNew);
    claim({ format: 3 }).release();
    claim({ format: 2 }).release();
    // A later release has written to the folder of an earlier one.
    writeFormat(location, 3);
    expect(() => claim({ format: 2 })).toThrow(StoreTooNew);
  });

  it("accepts one whose format was lost, and writes it again", () => {
    writeFileSync(join(location, "format"), "");
    claim().release();
    writeFormat(location, 2);
    expect(() => claim({ format: 1 })).toThrow(StoreTooNew);
  });

  it.each(["0", "x", "1.5", "-1", "2 3"])("rejects %j as the format of a location", (text) => {
    writeFileSync(join(location, "format"), text);
    expect(() => claim()).toThrow(StoreDamaged);
  });

  it("rejects a location that a process with another format has open", () => {
    claim().release();
    leaveMarker({ ...identifyProcess(process.pid), format: formatVersion + 1 });
    expect(() => claim()).toThrow(StoreInUse);
    expect(own()).toEqual(["other.json"]);
  });

  it("removes marker files of ended processes of this boot and of earlier boots", () => {
    for (const fields of [{ pid: 1, startTime: "no such" }, { bootId: "earlier" }]) {
      leaveMarker(fields);
      const claimed = claim();
      expect(claimed.isExclusive).toBe(true);
      claimed.release();
      expect(own()).toEqual([]);
    }
  });

  it("rejects a location that another machine has open, until its marker file expires", () => {
    leaveMarker({ bootId: "another", host: "there" });
    expect(() => claim()).toThrow(/on machine there has this location open/);
    leaveMarker({ bootId: "another", host: "there" }, true);
    const claimed = claim();
    expect(claimed.isExclusive).toBe(true);
    claimed.release();
  });

  it("rejects a location that another container has open, until its marker file expires", () => {
    const unseen = { pid: 1, startTime: "no such", namespace: "theirs" };
    leaveMarker(unseen);
    expect(() => claim()).toThrow(/in another container \(here\) has this location open/);
    expect(own()).toEqual(["other.json"]);
    leaveMarker(unseen, true);
    const claimed = claim();
    expect(claimed.isExclusive).toBe(true);
    claimed.release();
  });

  it("touches its marker file regularly", () => {
    const claimed = claim();
    const path = join(location, "open", own()[0] ?? "");
    utimesSync(path, 0, 0);
    clock.advance(6000);
    expect(() => claim({ clock: manualClock("another"), host: "there" })).toThrow(StoreInUse);
    claimed.release();
  });
});
