import { describe, expect, it } from "vitest";
import { ticksFromSeconds } from "../../base/ticks.ts";
import { Right } from "./access.ts";
import { acknowledgeBreak, breakSecondsMax } from "./caching.ts";
import { noLocks, type LockState, type Open, oplockKey } from "./lock-state.ts";
import { decideClose, decideOpen } from "./opens.ts";

function open(id: bigint, more: Partial<Open> = {}): Open {
  return {
    id,
    owner: "test",
    access: Right.readData | Right.writeData,
    share: 7,
    deleteOnClose: false,
    session: 1n,
    client: "",
    openedAt: 0n,
    ...more,
  };
}

function granted(state: LockState, request: Parameters<typeof decideOpen>[1]): LockState {
  const outcome = decideOpen(state, request);
  if (outcome.kind !== "granted") throw new Error(outcome.kind);
  return outcome.state;
}

const plain = { overwrites: false, now: 1n };

function withLease(wanted: number, more: Partial<Open> = {}): LockState {
  const first = open(1n, { cacheKey: "a", ...more });
  return granted(noLocks, { ...plain, open: first, cache: { key: "a", wanted } });
}

describe("leases", () => {
  /** Rights held, kind of the second open, whether it waits, rights that remain. */
  const cases = [
    [7, { overwrites: false }, true, 3],
    [5, { overwrites: false }, true, 1],
    [3, { overwrites: false }, false, 3],
    [7, { overwrites: true }, true, 0],
    [3, { overwrites: true }, false, 0],
    [1, { overwrites: true }, false, 0],
  ] as const;
  for (const [held, { overwrites }, waits, left] of cases) {
    it(`${held} under an open (overwrites: ${overwrites}) becomes ${left}`, () => {
      const state = withLease(held);
      const outcome = decideOpen(state, { open: open(2n), overwrites, now: 2n });
      expect(outcome.kind).toBe(waits ? "wait" : "granted");
      if (outcome.kind === "refused") return;
      const [cache] = outcome.state.caches;
      expect(cache?.breaking?.to ?? cache?.held).toBe(left);
    });
  }

  it("are not broken by an open without data access", () => {
    const asked = { open: open(2n, { access: Right.readAttributes }), ...plain };
    expect(decideOpen(withLease(7), asked)).toMatchObject({ kind: "granted", keysToNotify: [] });
  });

  it("with handle caching are broken before a sharing violation is reported", () => {
    const state = withLease(7, { share: 0 });
    const waiting = decideOpen(state, { ...plain, open: open(2n) });
    if (waiting.kind !== "wait") throw new Error(waiting.kind);
    expect(waiting.state.caches[0]?.breaking?.to).toBe(5);
    const { state: closed } = decideClose(waiting.state, new Set([1n]), { mayDelete: true });
    expect(decideOpen(closed, { ...plain, open: open(2n) }).kind).toBe("granted");
    const answered = acknowledgeBreak(waiting.state, { key: "a", kept: 5, now: 3n });
    if (typeof answered === "string") throw new Error(answered);
    expect(decideOpen(answered, { ...plain, open: open(2n) })).toEqual({
      kind: "refused",
      refusal: "sharing-violation",
    });
  });

  it("are broken in several steps for an overwrite during a break, and all opens wait", () => {
    const first = decideOpen(withLease(7), { ...plain, open: open(2n) });
    if (first.kind !== "wait") throw new Error(first.kind);
    const replacing = { open: open(3n), overwrites: true, now: 2n };
    const second = decideOpen(first.state, replacing);
    expect(second).toMatchObject({ kind: "wait", state: { caches: [{ held: 7 }] } });
    if (second.kind !== "wait") throw new Error(second.kind);
    const once = acknowledgeBreak(second.state, { key: "a", kept: 3, now: 3n });
    if (typeof once === "string") throw new Error(once);
    expect(once.caches[0]).toMatchObject({ held: 3, breaking: { to: 1 } });
    expect(decideOpen(once, { ...plain, open: open(2n) }).kind).toBe("wait");
    expect(decideOpen(once, replacing).kind).toBe("wait");
    const twice = acknowledgeBreak(once, { key: "a", kept: 1, now: 4n });
    if (typeof twice === "string") throw new Error(twice);
    expect(twice.caches).toEqual([{ key: "a", held: 0, epoch: 2 }]);
    expect(granted(twice, replacing).caches[0]).toMatchObject({ held: 0 });
  });

  it("end if the client does not acknowledge the break in time", () => {
    const waiting = decideOpen(withLease(7), { ...plain, open: open(2n) });
    if (waiting.kind !== "wait") throw new Error(waiting.kind);
    const now = 1n + ticksFromSeconds(breakSecondsMax);
    const late = decideOpen(waiting.state, { ...plain, open: open(2n), now });
    expect(late).toMatchObject({ kind: "granted", state: { caches: [{ held: 0 }] } });
  });

  it("are granted without write caching beside another open, and not at all beside locks", () => {
    const first = granted(noLocks, { ...plain, open: open(1n) });
    const second = { ...plain, open: open(2n, { cacheKey: "b" }), cache: { key: "b", wanted: 7 } };
    expect(granted(first, second).caches).toEqual([{ key: "b", held: 3, epoch: 1 }]);
    const locked = {
      ...first,
      ranges: [{ open: 1n, offset: 0n, length: 1n, exclusive: true }],
    };
    expect(granted(locked, second).caches).toEqual([{ key: "b", held: 0, epoch: 1 }]);
  });

  it("accept acknowledgements only of a break, and only of the rights that it leaves", () => {
    const state = withLease(7);
    expect(acknowledgeBreak(state, { key: "a", kept: 3, now: 3n })).toBe("not-breaking");
    expect(acknowledgeBreak(state, { key: "z", kept: 3, now: 3n })).toBe("no-such-cache");
    const waiting = decideOpen(state, { ...plain, open: open(2n) });
    if (waiting.kind !== "wait") throw new Error(waiting.kind);
    expect(acknowledgeBreak(waiting.state, { key: "a", kept: 7, now: 3n })).toBe("too-much");
  });

  it("are decided after the break of a batch oplock whose share mode conflicts", () => {
    const key = oplockKey(1n);
    const first = open(1n, { share: 0, cacheKey: key });
    const state = granted(noLocks, { ...plain, open: first, cache: { key, wanted: 7 } });
    expect(decideOpen(state, { ...plain, open: open(2n) }).kind).toBe("wait");
  });
});

describe("closing", () => {
  it("deletes a delete-pending file with the last handle", () => {
    let state = granted(noLocks, {
      ...plain,
      open: open(1n, { access: Right.delete, deleteOnClose: true }),
    });
    state = granted(state, { ...plain, open: open(2n) });
    const first = decideClose(state, new Set([1n]), { mayDelete: true });
    expect(first).toMatchObject({ deletesFile: false, state: { deletePending: true } });
    const last = decideClose(first.state, new Set([2n]), { mayDelete: true });
    expect(last).toMatchObject({ deletesFile: true, state: { opens: [], deletePending: false } });
  });

  it("removes the locks and the caching grant of that open alone", () => {
    let state = withLease(3);
    state = granted(state, { ...plain, open: open(2n, { cacheKey: "b" }) });
    const ranges = [1n, 2n].map((id) => ({ open: id, offset: id, length: 1n, exclusive: true }));
    const closed = decideClose({ ...state, ranges }, new Set([1n]), { mayDelete: true });
    expect(closed.state.ranges).toEqual([ranges[1]]);
    expect(closed.state.caches).toEqual([]);
  });
});
