import { EventEmitter } from "node:events";
import { expect, it, vi } from "vitest";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { UnsentResponses } from "./processing-limits.ts";

class FakeResponse extends EventEmitter {
  readonly destroy = vi.fn();
}

it("leave no room for others until they are sent", () => {
  const unsent = new UnsentResponses(manualClock(), 100);
  const [first, second] = [new FakeResponse(), new FakeResponse()];
  unsent.add(first, 60);
  expect(unsent.makeRoom()).toBe(true);
  unsent.add(second, 60);
  expect(unsent.makeRoom()).toBe(false);
  second.emit("close");
  expect(unsent.makeRoom()).toBe(true);
  expect(first.destroy).not.toHaveBeenCalled();
});

it("are ended for others if their clients are slow, the oldest first", () => {
  const clock = manualClock();
  const unsent = new UnsentResponses(clock, 100);
  const [old, newer, newest] = [new FakeResponse(), new FakeResponse(), new FakeResponse()];
  unsent.add(old, 60);
  clock.advance(1000);
  unsent.add(newer, 60);
  unsent.add(newest, 30);
  expect(unsent.makeRoom()).toBe(false);
  clock.advance(9500);
  expect(unsent.makeRoom()).toBe(true);
  expect([old, newer, newest].map(({ destroy }) => destroy.mock.calls.length)).toEqual([1, 0, 0]);
  old.emit("close");
  unsent.add(new FakeResponse(), 10);
  expect(unsent.makeRoom()).toBe(false);
});
