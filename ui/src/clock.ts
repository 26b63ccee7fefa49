import { useEffect, useState } from "preact/hooks";

export function nowMilliseconds(): number {
  return Date.now();
}

/** The present moment, at every `stepMilliseconds`: for what runs out as one looks at it. */
export function useNow(stepMilliseconds: number): number {
  const [now, setNow] = useState(nowMilliseconds);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMilliseconds()), stepMilliseconds);
    return () => clearInterval(timer);
  }, [stepMilliseconds]);
  return now;
}

/** Runs `work` again and again while the page is looked at. */
export function useRepeating(work: () => void, everyMilliseconds: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) work();
    }, everyMilliseconds);
    return () => clearInterval(timer);
  }, [work, everyMilliseconds]);
}
