import { describe, expect, it } from "vitest";
import { ticksFromSeconds } from "../../base/ticks.ts";
import { Right } from "./access.ts";
import { breakCaches, grantCache, mustWait } from "./caching.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  noLocks,
  oplockKey,
  opensMax,
  type CachingGrant,
  type LockState,
  type Open,
} from "./lock-state.ts";
import { decideClose, decideOpen } from "./opens.ts";

const [all, readHandle] = [cacheRead | cacheHandle | cacheWrite, cacheRead | cacheHandle];
const [oplock, otherOplock] = [oplockKey(1n), oplockKey(2n)];

function openOf(id: bigint, more: Partial<Open> = {}): Open {
  const access = Right.readData | Right.writeData;
  const rest = { owner: "test", access, share: 7, deleteOnClose: false, session: 1n, client: "" };
  return { id, ...rest, openedAt: 0n, ...more };
}

function cached(...caches: readonly CachingGrant[]): LockState {
  return { ...noLocks, caches };
}

/** What a key holds after a request. */
function heldAfter(state: LockState, key: string, wanted: number): number | undefined {
  return grantCache(state, { key, wanted }).caches.find((cache) => cache.key === key)?.held;
}

describe("a grant of caching", () => {
  it.each([
    ["alone", noLocks, "a", all, all],
    ["of a right that exists only with another", noLocks, "a", cacheWrite, 0],
    ["beside an open without a key", { ...noLocks, opens: [openOf(1n)] }, "a", all, readHandle],
    [
      "beside an open that reads attributes only",
      { ...noLocks, opens: [openOf(1n, { access: Right.readAttributes })] },
      "a",
      all,
      all,
    ],
    ["beside its own open", { ...noLocks, opens: [openOf(1n, { cacheKey: "a" })] }, "a", all, all],
    [
      "beside another lease",
      cached({ key: "b", held: readHandle, epoch: 1 }),
      "a",
      all,
      readHandle,
    ],
    ["beside write caching", cached({ key: "b", held: cacheWrite, epoch: 1 }), "a", cacheRead, 0],
    ["beside a lease without rights", cached({ key: "b", held: 0, epoch: 1 }), "a", all, all],
    ["beside an oplock", cached({ key: oplock, held: cacheRead, epoch: 1 }), "a", all, cacheRead],
    ["beside an oplock without rights", cached({ key: oplock, held: 0, epoch: 1 }), "a", all, all],
    [
      "of an oplock beside a lease of handles",
      cached({ key: "b", held: readHandle, epoch: 1 }),
      oplock,
      cacheRead,
      0,
    ],
    [
      "of an oplock beside a lease of reads",
      cached({ key: "b", held: cacheRead, epoch: 1 }),
      oplock,
      all,
      cacheRead,
    ],
    [
      "of an oplock beside another one",
      cached({ key: otherOplock, held: cacheRead, epoch: 1 }),
      oplock,
      cacheRead,
      cacheRead,
    ],
    [
      "beside a byte-range lock",
      { ...noLocks, ranges: [{ open: 1n, offset: 0n, length: 1n, exclusive: false }] },
      "a",
      all,
      0,
    ],
    ["that adds to its own", cached({ key: "a", held: cacheRead, epoch: 1 }), "a", all, all],
    ["of less than its own", cached({ key: "a", held: all, epoch: 1 }), "a", cacheRead, all],
  ] as const)("%s", (_title, state, key, wanted, expected) => {
    expect(heldAfter(state, key, wanted)).toBe(expected);
  });

  it("counts changes, but not a request that changes nothing", () => {
    const first = grantCache(noLocks, { key: "a", wanted: cacheRead, epoch: 4 });
    expect(first.caches).toEqual([{ key: "a", held: cacheRead, epoch: 5 }]);
    expect(grantCache(first, { key: "a", wanted: cacheRead })).toBe(first);
    const both = { ...first, caches: [...first.caches, { key: "b", held: 0, epoch: 1 }] };
    const raised = grantCache(both, { key: "a", wanted: readHandle });
    expect(raised.caches).toEqual([
      { key: "a", held: readHandle, epoch: 6 },
      { key: "b", held: 0, epoch: 1 },
    ]);
  });

  it("is not raised to rights that another lease excludes, or that lack those it has", () => {
    const other = { key: "b", held: cacheRead, epoch: 1 };
    const state = cached({ key: "a", held: cacheRead, epoch: 1 }, other);
    expect(grantCache(state, { key: "a", wanted: all })).toBe(state);
    const handles = cached({ key: "a", held: readHandle, epoch: 1 });
    expect(grantCache(handles, { key: "a", wanted: cacheRead | cacheWrite })).toBe(handles);
  });
});

it("breaks of several leases wait since the first of them", () => {
  const [early, late] = [ticksFromSeconds(10), ticksFromSeconds(20)];
  const breaking = (key: string, askedAt: bigint): CachingGrant => {
    return { key, held: all, epoch: 1, breaking: { to: readHandle, askedAt } };
  };
  for (const times of [
    [early, late],
    [late, early],
  ] as const) {
    const state = cached(breaking("a", times[0]), breaking("b", times[1]));
    const result = breakCaches(state, "open", { ownKey: undefined, now: ticksFromSeconds(21) });
    expect(mustWait(result) && result.since).toBe(early);
  }
});

describe("opens", () => {
  it("are bounded per file", () => {
    const opens = Array.from({ length: opensMax }, (_, at) => openOf(BigInt(at)));
    const request = { open: openOf(9_999n), overwrites: false, now: 1n };
    expect(decideOpen({ ...noLocks, opens }, request)).toMatchObject({ refusal: "too-many-opens" });
    const outcome = decideOpen({ ...noLocks, opens: opens.slice(1) }, request);
    expect(outcome.kind).toBe("granted");
  });

  it("delete a file with the last handle, if one of them says so and it may be deleted", () => {
    const opens = [openOf(1n, { deleteOnClose: true }), openOf(2n)];
    const first = decideClose({ ...noLocks, opens }, new Set([1n]), { mayDelete: true });
    expect(first).toMatchObject({ deletesFile: false, state: { deletePending: true } });
    const last = decideClose(first.state, new Set([2n]), { mayDelete: true });
    expect(last).toMatchObject({ deletesFile: true, state: { deletePending: false } });
    const kept = decideClose({ ...noLocks, opens }, new Set([1n, 2n]), { mayDelete: false });
    expect(kept).toMatchObject({ deletesFile: false, state: { deletePending: false } });
    const plain = decideClose({ ...noLocks, opens }, new Set([2n]), { mayDelete: true });
    expect(plain).toMatchObject({ deletesFile: false, state: { deletePending: false } });
    const none = decideClose({ ...noLocks, opens }, new Set([3n]), { mayDelete: true });
    expect(none).toEqual({ deletesFile: false, state: { ...noLocks, opens } });
  });

  it.each([
    ["an open", Right.readData, false, readHandle],
    ["an overwriting open", Right.readData, true, 0],
    ["an open for attributes", Right.readAttributes, false, undefined],
    ["an overwriting open for attributes", Right.readAttributes, true, 0],
  ])(
    "%s breaks a batch oplock before share modes are checked",
    (_title, access, overwrites, to) => {
      const held = openOf(1n, { cacheKey: oplock, share: 0 });
      const state = { ...noLocks, opens: [held], caches: [{ key: oplock, held: all, epoch: 1 }] };
      const request = { open: openOf(2n, { access }), overwrites, now: 1n };
      const outcome = decideOpen(state, request);
      expect(outcome.kind).toBe(to === undefined ? "granted" : "wait");
      if (outcome.kind !== "refused") {
        expect(outcome.state.caches[0]?.breaking?.to).toBe(to);
      }
    },
  );

  it("meet the share modes of a handle whose lease is not a batch oplock", () => {
    const held = openOf(1n, { cacheKey: "a", share: 0 });
    const state = { ...noLocks, opens: [held], caches: [{ key: "a", held: cacheRead, epoch: 1 }] };
    const request = { open: openOf(2n), overwrites: false, now: 1n };
    expect(decideOpen(state, request)).toMatchObject({ refusal: "sharing-violation" });
  });
});
