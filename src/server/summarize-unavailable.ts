import type { Clock, Log } from "../base/world.ts";
import { StoreUnavailable } from "../store/store.ts";

const summaryMilliseconds = 60_000;
/** Messages that are summarised. There are always fewer, because messages are constant strings; the
 *  limit bounds memory in case of a bug. */
const messagesMax = 100;

interface Summary {
  readonly level: "warn" | "error";
  reason: string;
  count: number;
}

/**
 * Returns a log that writes lines with a `StoreUnavailable` error at most once per minute and
 * message, with the number of failures since the previous line and without the stack: on a full
 * disk every write fails, and the log may be on the same disk.
 */
export function summarizeUnavailable(log: Log, clock: Clock): Log {
  const summaries = new Map<string, Summary>();
  const report = (message: string, summary: Summary): void => {
    log[summary.level]({ reason: summary.reason, count: summary.count }, message);
    summary.count = 0;
    clock.after(summaryMilliseconds, () => {
      if (summary.count === 0) summaries.delete(message);
      else report(message, summary);
    });
  };
  const write = (level: Summary["level"], fields: object, message: string): void => {
    const error = "err" in fields ? fields.err : undefined;
    if (!(error instanceof StoreUnavailable)) return log[level](fields, message);
    const running = summaries.get(message);
    if (running !== undefined) {
      running.reason = error.message;
      running.count += 1;
      return;
    }
    const summary: Summary = { level, reason: error.message, count: 1 };
    if (summaries.size < messagesMax) summaries.set(message, summary);
    report(message, summary);
  };
  return {
    ...log,
    warn: (fields, message) => write("warn", fields, message),
    error: (fields, message) => write("error", fields, message),
  };
}
