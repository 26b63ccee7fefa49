import { failed, done, type Result } from "../result.ts";
import { admin } from "./call.ts";
import type { TimelineOf } from "./timeline.ts";
import type { Recording } from "../../../src/admin/views/timeline.ts";

export type {
  HoldSpan,
  RecordedEvent,
  Recording,
  WaitSpan,
} from "../../../src/admin/views/timeline.ts";

/** What happened in the last seconds, to one object or to all. */
export const getRecording = (
  { of, seconds }: { readonly of: TimelineOf | undefined; readonly seconds: number },
  signal?: AbortSignal,
): Promise<Result<Recording>> => admin("recording", { query: { ...of, seconds }, signal });

/** A recording that was saved as a file. */
export function parseRecording(text: string): Result<Recording> {
  try {
    const value = JSON.parse(text) as Partial<Recording>;
    const isWhole = [value.events, value.spans, value.waits].every(Array.isArray);
    if (value.format === "etagere-recording" && value.version === 1 && isWhole) {
      return done(value as Recording);
    }
  } catch {
    // Reported below.
  }
  return failed({ status: 0, code: "NoRecording", message: "This file is not a recording" });
}
