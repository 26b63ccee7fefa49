import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FetchPage } from "./arranged-pages.ts";
import { PagedList } from "./paged-list.ts";

export interface Paged<Row> {
  readonly list: PagedList<Row>;
  readonly reload: () => void;
}

/**
 * A paged list that is reset when `inputs` change. On a reload the old rows stay until the new ones
 * arrive, so that scroll position and focus are kept.
 */
export function usePaged<Row>(fetchPage: FetchPage<Row>, inputs: readonly unknown[]): Paged<Row> {
  const [, redraw] = useState(0);
  const [round, setRound] = useState(0);
  const list = useMemo(
    () => new PagedList<Row>(fetchPage, () => redraw((before) => before + 1)),
    [...inputs, round],
  );
  useEffect(() => {
    list.need(0, 0);
    return () => list.close();
  }, [list]);
  const subject = useMemo(() => ({}), inputs);
  const shown = useRef({ subject, list });
  const isReady = list.count > 0 || list.isComplete || list.failure !== undefined;
  if (isReady || shown.current.subject !== subject) shown.current = { subject, list };
  return { list: shown.current.list, reload: () => setRound((before) => before + 1) };
}
