import { beforeEach, describe, expect, it } from "vitest";
import {
  expectDone,
  newFile,
  newShare,
  putRange,
  signedUrl,
  snapshot,
} from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

let world: SimFile;
const path = "/share/file";

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
});

const newest = { "x-ms-version": "2026-10-06" };

/** The listed ranges such as `0-511`, cleared ones in parentheses, and the next marker. */
async function list(query = "", headers: Readonly<Record<string, string>> = {}, file = path) {
  const call = { method: "GET", path: `${file}?comp=rangelist${query}`, headers };
  const { status, code, body } = await world.send(call);
  if (status !== 200) return code;
  const form = /<(Range|ClearRange)><Start>(\d+)<\/Start><End>(\d+)<\/End>/g;
  const ranges = [...body.matchAll(form)].map(([, name, from, to]) =>
    name === "Range" ? `${from}-${to}` : `(${from}-${to})`,
  );
  const marker = /<NextMarker>(\d+)<\/NextMarker>/.exec(body)?.[1];
  return marker === undefined ? ranges.join(" ") : `${ranges.join(" ")} next ${marker}`;
}

async function clear(from: number, to: number) {
  const headers = { "x-ms-write": "clear", "x-ms-range": `bytes=${from}-${to}` };
  await expectDone(world.send({ method: "PUT", path: `${path}?comp=range`, headers }));
}

async function sparseFile(length: number, ...starts: readonly number[]): Promise<void> {
  const headers = { "x-ms-type": "file", "x-ms-content-length": String(length) };
  await expectDone(world.send({ method: "PUT", path, headers }));
  for (const start of starts) await expectDone(putRange(world, path, start, "x".repeat(512)));
}

describe("List Ranges", () => {
  it.each([
    [1, "0-0"],
    [600, "0-599"],
    [1024, "0-1023"],
  ])("of a file of %d bytes ends with it", async (length, expected) => {
    await newFile(world, path, "x".repeat(length));
    expect(await list()).toBe(expected);
  });

  it("ends with the file also after one byte of it was cleared", async () => {
    await newFile(world, path, "x");
    await clear(0, 0);
    expect(await list()).toBe("0-0");
  });

  it.each([
    ["bytes=1024-2047", "1024-1535"],
    ["bytes=100-199", "100-199"],
    ["bytes=1536-2047", ""],
    ["bytes=512-9999", "512-1535 2048-2559"],
  ])("is clipped to %s", async (range, expected) => {
    await sparseFile(2560, 0, 512, 1024, 2048);
    expect(await list("", { "x-ms-range": range })).toBe(expected);
  });

  it("clips changed and cleared ranges, too", async () => {
    await sparseFile(2048, 0, 512, 1024);
    const before = await snapshot(world, "/share");
    await clear(0, 1023);
    await expectDone(putRange(world, path, 1024, "y".repeat(512)));
    const previous = `&prevsharesnapshot=${encodeURIComponent(before)}`;
    expect(await list(previous)).toBe("(0-1023) 1024-1535");
    expect(await list(previous, { "x-ms-range": "bytes=512-1279" })).toBe("(512-1023) 1024-1279");
  });

  it("returns pages from 2026-10-06 on", async () => {
    await sparseFile(3072, 0, 1024, 2048);
    expect(await list("&maxresults=2", newest)).toBe("0-511 1024-1535 next 2048");
    expect(await list("&maxresults=2&marker=2048", newest)).toBe("2048-2559");
    expect(await list("", newest)).toBe("0-511 1024-1535 2048-2559");
    expect(await list("&maxresults=2")).toBe("0-511 1024-1535 2048-2559");
    expect(await list("&marker=x", newest)).toBe("InvalidQueryParameterValue");
    expect(await list("&maxresults=0", newest)).toBe("OutOfRangeQueryParameterValue");
  });

  it("loses nothing if ranges are joined between two pages", async () => {
    await sparseFile(3072, 0, 1024, 2048);
    expect(await list("&maxresults=1", newest)).toBe("0-511 next 1024");
    await expectDone(putRange(world, path, 512, "x".repeat(512)));
    expect(await list("&marker=1024", newest)).toBe("1024-1535 2048-2559");
  });
});

describe("List Ranges with an earlier share snapshot", () => {
  const renamed = "/share/renamed";

  async function rename(): Promise<string> {
    await sparseFile(1024, 0);
    const before = await snapshot(world, "/share");
    await expectDone(putRange(world, path, 512, "x".repeat(512)));
    const headers = { "x-ms-file-rename-source": signedUrl(path) };
    await expectDone(world.send({ method: "PUT", path: `${renamed}?comp=rename`, headers }));
    return `&prevsharesnapshot=${encodeURIComponent(before)}`;
  }

  it.each([undefined, "false"])(
    "rejects a renamed file (x-ms-file-support-rename %s)",
    async (value) => {
      const previous = await rename();
      const headers = value === undefined ? {} : { "x-ms-file-support-rename": value };
      expect(await list(previous, headers, renamed)).toBe("PreviousSnapshotNotFound");
    },
  );

  it("follows a rename if asked", async () => {
    const previous = await rename();
    expect(await list(previous, { "x-ms-file-support-rename": "true" }, renamed)).toBe("512-1023");
  });

  it("lists all ranges of a file that was created since", async () => {
    const before = await snapshot(world, "/share");
    await sparseFile(1024, 0);
    expect(await list(`&prevsharesnapshot=${encodeURIComponent(before)}`)).toBe("0-511");
  });
});
