import { useEffect } from "preact/hooks";

const shownMilliseconds = 8000;

/** Removes a panel some seconds after its work is done, so that it does not cover the page. */
export function useLeavingPanel(isDone: boolean, leave: () => void): void {
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(leave, shownMilliseconds);
    return () => clearTimeout(timer);
  }, [isDone]);
}
