import { useLayoutEffect, useRef } from "preact/hooks";
import type { RefObject } from "preact";

interface AddedFocus {
  readonly ref: RefObject<HTMLDivElement | null>;
  /** The command that adds a row. */
  readonly adding: (add: () => void) => () => void;
}

/** Moves the focus to the first field of a row that the user has added. Otherwise the letters that
 *  are typed next would be shortcuts. `rows` is the number of elements that match `selector`. */
export function useAddedFocus(rows: number, selector: string): AddedFocus {
  const ref = useRef<HTMLDivElement>(null);
  const isAdded = useRef(false);
  useLayoutEffect(() => {
    if (!isAdded.current) return;
    isAdded.current = false;
    const last = [...(ref.current?.querySelectorAll(selector) ?? [])].at(-1);
    last?.querySelector("input")?.focus();
  }, [rows]);
  return {
    ref,
    adding: (add) => () => {
      isAdded.current = true;
      add();
    },
  };
}
