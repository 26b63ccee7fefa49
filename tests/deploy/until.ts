import { setTimeout } from "node:timers/promises";

const waitMilliseconds = 200;
const waitMillisecondsMax = 120_000;
const attemptMillisecondsMax = 10_000;

/** `signal` aborts at the deadline of the attempt. */
export type Attempt = (signal: AbortSignal) => boolean | Promise<boolean>;

export interface UntilLimits {
  readonly attemptMilliseconds?: number;
  readonly totalMilliseconds?: number;
}

/** Waits for a condition, whose exceptions count as false. So does an attempt that has not ended at
 *  its deadline, whether it uses the signal or not: `fetch` of Node.js 20 may never settle if a
 *  proxy closes the connection that it has chosen. */
export async function until(
  what: string,
  attempt: Attempt,
  {
    attemptMilliseconds = attemptMillisecondsMax,
    totalMilliseconds = waitMillisecondsMax,
  }: UntilLimits = {},
): Promise<void> {
  const begun = performance.now();
  while (performance.now() - begun < totalMilliseconds) {
    const signal = AbortSignal.timeout(attemptMilliseconds);
    if (await Promise.race([resultOf(attempt, signal), falseAt(signal)])) return;
    await setTimeout(waitMilliseconds);
  }
  throw new Error(`${what}: not after ${totalMilliseconds} ms`);
}

async function resultOf(attempt: Attempt, signal: AbortSignal): Promise<boolean> {
  try {
    return await attempt(signal);
  } catch {
    return false;
  }
}

function falseAt(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
}
