import { expect, it } from "vitest";
import type { ObservedRequest, Observer } from "../../http/http-service.ts";
import { simWorld } from "../../../tests/harness/sim-world.ts";
import { FeedForwarder } from "./feed-forwarder.ts";

/** A rejected request, of which the feed reports one event. */
const rejected = {
  http: { clock: { wall: () => 0n }, service: { name: "blob" } },
  context: { request: { method: "PUT", headers: {} }, requestId: "" },
  result: { ok: false, fault: { code: "ConditionNotMet" } },
  reply: { status: 412, headers: {} },
} as unknown as ObservedRequest;

function forwarder() {
  const { clock, log } = simWorld(1);
  const observer: Observer = { watch: undefined };
  const sent: (readonly [number, number])[] = [];
  const written: (() => void)[] = [];
  const feed = new FeedForwarder({
    observer,
    clock,
    log,
    send: (events, missed) => {
      sent.push([events.length, missed]);
      return new Promise((resolve) => void written.push(resolve));
    },
  });
  const request = (count: number): void => {
    for (let index = 0; index < count; index += 1) observer.watch?.(rejected);
  };
  return { clock, observer, sent, written, feed, request };
}

it("sends one message at a time and counts the events that do not fit", async () => {
  const { clock, sent, written, feed, request } = forwarder();
  feed.observe(true, []);
  request(3);
  clock.advance(50);
  expect(sent).toEqual([[3, 0]]);
  request(1500);
  clock.advance(1000);
  expect(sent).toHaveLength(1);
  written[0]?.();
  await Promise.resolve();
  await Promise.resolve();
  clock.advance(50);
  expect(sent).toEqual([
    [3, 0],
    [1000, 500],
  ]);
});

it("observes no request unless asked to", () => {
  const { observer, feed } = forwarder();
  feed.observe(true, []);
  feed.observe(false, []);
  expect(observer.watch).toBeUndefined();
});
