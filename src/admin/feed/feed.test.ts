import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { ticksPerSecond } from "../../base/ticks.ts";
import { Ring } from "./feed-event.ts";
import { parseKinds, Subscriber, type FeedKind } from "./subscriber.ts";

it("a ring keeps the latest, the newest first", () => {
  const ring = new Ring<number>(3);
  expect([...ring.latest()]).toEqual([]);
  for (const item of [1, 2]) ring.push(item);
  expect([...ring.latest()]).toEqual([2, 1]);
  for (const item of [3, 4, 5]) ring.push(item);
  expect([...ring.latest()]).toEqual([5, 4, 3]);
});

const mine = { service: "blob", account: "mine", place: {} } as const;
const other = { ...mine, account: "other" };

interface Written {
  readonly watcher: Subscriber;
  readonly texts: string[];
  waiting: number;
}

function watching(...kinds: readonly FeedKind[]): Written {
  const texts: string[] = [];
  const response = {
    write: (text: string) => texts.push(text),
    get writableLength() {
      return written.waiting;
    },
  };
  const watcher = new Subscriber(response as unknown as ServerResponse, {
    kinds: new Set(kinds),
    sees: ({ account }) => account === "mine",
    isValid: () => true,
  });
  const written: Written = { watcher, texts, waiting: 0 };
  return written;
}

it("a subscriber gets at most 200 events per second, and the number it missed", () => {
  const { watcher, texts } = watching("refused");
  const sent = Array.from({ length: 250 }, () => watcher.admits("refused", mine, 0n));
  expect(sent.filter(Boolean).length).toBe(200);
  watcher.send("");
  expect(texts).toEqual(['event: missed\ndata: {"count":50}\n\n']);
  expect(watcher.admits("refused", mine, ticksPerSecond)).toBe(true);
  watcher.send("x");
  expect(texts.at(-1)).toBe("x");
});

it("a subscriber neither gets nor misses events of other accounts", () => {
  const { watcher, texts } = watching("refused");
  for (let each = 0; each < 250; each += 1) {
    expect(watcher.admits("refused", other, 0n)).toBe(false);
  }
  expect(watcher.admits("refused", mine, 0n)).toBe(true);
  watcher.send("");
  expect(texts).toEqual([]);
});

it("a subscriber that does not read is detected", () => {
  const written = watching("refused");
  expect(written.watcher.send("x")).toBe(true);
  written.waiting = 2 * 1024 * 1024;
  expect(written.watcher.send("x")).toBe(false);
});

it("only known kinds are accepted", () => {
  expect([...(parseKinds(null) ?? [])]).toEqual(["refused", "lease", "message"]);
  expect([...(parseKinds("health,lease") ?? [])]).toEqual(["lease", "health"]);
  expect(parseKinds("health,nonsense")).toBeUndefined();
});
