import { expect, it } from "vitest";
import { SpanHistory, type Spanned } from "./feed-event.ts";

const fact = (key: string, more: Partial<Spanned> = {}): Spanned => ({ key, ...more });

function spansOf(history: SpanHistory<Spanned>, since = 0n): readonly unknown[] {
  return history.since(since).map(({ fact: { key }, from, to }) => [key, from, to]);
}

it("a span begins with the first sample, or before, and ends with the first without it", () => {
  const history = new SpanHistory<Spanned>();
  history.update(10n, [fact("a"), fact("b", { since: 7n })]);
  history.update(20n, [fact("b", { since: 7n })]);
  expect(spansOf(history)).toEqual([
    ["b", 7n, undefined],
    ["a", 10n, 20n],
  ]);
});

it("a span that ends by itself ends at that time", () => {
  const history = new SpanHistory<Spanned>();
  history.update(10n, [fact("a", { until: 13n }), fact("b", { until: 90n })]);
  history.update(20n, []);
  expect(spansOf(history)).toEqual([
    ["b", 10n, 20n],
    ["a", 10n, 13n],
  ]);
});

it("spans that ended before the wanted time are left out", () => {
  const history = new SpanHistory<Spanned>();
  history.update(10n, [fact("a")]);
  history.update(20n, [fact("b")]);
  expect(spansOf(history, 21n)).toEqual([["b", 20n, undefined]]);
});

it("after a pause nothing holds, and the spans end where they were last seen", () => {
  const history = new SpanHistory<Spanned>();
  history.update(10n, [fact("a")]);
  history.update(15n, [fact("a")]);
  history.pause();
  history.update(90n, []);
  expect(spansOf(history)).toEqual([["a", 10n, 15n]]);
});

it("a fact that holds after a pause has one span, unless it began anew", () => {
  const history = new SpanHistory<Spanned>();
  history.update(10n, [fact("a"), fact("b", { since: 7n })]);
  history.pause();
  expect(spansOf(history)).toEqual([
    ["a", 10n, 10n],
    ["b", 7n, 10n],
  ]);
  history.update(90n, [fact("a"), fact("b", { since: 50n })]);
  expect(spansOf(history)).toEqual([
    ["a", 10n, undefined],
    ["b", 50n, undefined],
    ["b", 7n, 10n],
  ]);
});

it("memory is bounded", () => {
  const history = new SpanHistory<Spanned>();
  history.update(
    1n,
    Array.from({ length: 10_000 }, (_, index) => fact(String(index))),
  );
  expect(history.since(0n)).toHaveLength(2000);
  for (let round = 0n; round < 10n; round += 1n) {
    history.update(
      round + 2n,
      Array.from({ length: 2000 }, (_, index) => fact(`${round} ${index}`)),
    );
  }
  expect(history.since(0n)).toHaveLength(2000 + 4096);
});
