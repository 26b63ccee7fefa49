import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { nowMilliseconds, useNow } from "../clock.ts";
import { duration } from "../format.ts";

const stepMilliseconds = 500;

interface TimeLeftProps {
  /** Seconds left when the server responded; null if the time is unlimited. */
  readonly secondsLeft: number | null;
  readonly ofSeconds?: number;
}

/** Counts down from `secondsLeft` with the local clock, which need not agree with that of the
 *  server. */
export function TimeLeft({ secondsLeft, ofSeconds }: TimeLeftProps): JSX.Element {
  const saidAt = useMemo(nowMilliseconds, [secondsLeft]);
  const now = useNow(stepMilliseconds);
  if (secondsLeft === null) return <span>infinite</span>;
  const left = Math.max(0, secondsLeft - (now - saidAt) / 1000);
  return (
    <span class="time-left">
      {ofSeconds !== undefined && (
        <meter min={0} max={ofSeconds} value={left} aria-label="Time left" />
      )}
      <span>{duration(left)}</span>
    </span>
  );
}
