import { expect, it } from "vitest";
import { until, type Attempt } from "./until.ts";

/** Never settles, and ignores its signal. */
const hanging = (): Promise<boolean> => new Promise(() => {});

it("until tries again after an attempt that never settles, with a signal for each", async () => {
  const signals: AbortSignal[] = [];
  const attempt: Attempt = (signal) => signals.push(signal) > 1 || hanging();
  await until("the second attempt", attempt, { attemptMilliseconds: 1 });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
});

it("until tries again after an exception, and says what it has waited for", async () => {
  let attempts = 0;
  await until("no exception", () => {
    attempts += 1;
    if (attempts === 1) throw new Error("not yet");
    return true;
  });
  expect(attempts).toBe(2);
  const limits = { attemptMilliseconds: 1, totalMilliseconds: 1 };
  await expect(until("the server", hanging, limits)).rejects.toThrow("the server: not after 1 ms");
});
