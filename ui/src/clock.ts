import { useEffect, useState } from "preact/hooks";

export function nowMilliseconds(): number {
  return Date.now();
}

/** The current time, updated every `stepMilliseconds`, for countdowns. */
export function useNow(stepMilliseconds: number): number {
  const [now, setNow] = useState(nowMilliseconds);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMilliseconds()), stepMilliseconds);
    return () => clearInterval(timer);
  }, [stepMilliseconds]);
  return now;
}

/** Runs `work` periodically while the browser tab is visible. */
export function useRepeating(work: () => void, everyMilliseconds: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) work();
    }, everyMilliseconds);
    return () => clearInterval(timer);
  }, [work, everyMilliseconds]);
}
