import { describe, expect, it } from "vitest";
import { brokenPromises, type QueueEvent } from "./queue-history.ts";

const put: QueueEvent = { kind: "put", text: "a", isAnswered: true };
const delivery = (sent: number): QueueEvent => ({
  kind: "delivery",
  text: "a",
  sent,
  answered: sent + 5,
  visibilityMilliseconds: 1000,
});
const removed = (isAnswered: boolean): QueueEvent => ({
  kind: "delete",
  text: "a",
  answered: 100,
  isAnswered,
});
const hide = (isAnswered: boolean): QueueEvent => ({
  kind: "hide",
  text: "a",
  sent: 500,
  visibilityMilliseconds: 1000,
  isAnswered,
});

describe("a valid queue history", () => {
  it.each<readonly [string, readonly QueueEvent[]]>([
    ["a message that is got and deleted", [put, delivery(0), removed(true)]],
    ["one that comes back in time", [put, delivery(0), delivery(1000)]],
    ["a delete that may not have happened", [put, delivery(0), removed(false), delivery(2000)]],
    ["an update that may not have happened", [put, delivery(0), hide(false), delivery(1100)]],
    ["a put that may not have happened", [{ ...put, isAnswered: false }]],
  ])("%s", (_what, events) => {
    expect(brokenPromises(events)).toEqual([]);
  });
});

describe("an invalid queue history", () => {
  it.each<readonly [string, readonly QueueEvent[]]>([
    ["a message is lost", [put]],
    ["two consumers hold it at once", [put, delivery(0), delivery(500)]],
    ["an update did not hide it", [put, delivery(0), hide(true), delivery(1100)]],
    ["a delete is undone", [put, delivery(0), removed(true), delivery(2000)]],
    ["was never put", [delivery(0)]],
  ])("%s", (_what, events) => {
    expect(brokenPromises(events)).toHaveLength(1);
  });
});
