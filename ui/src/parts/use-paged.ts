import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FetchPage } from "./arranged-pages.ts";
import { PagedList } from "./paged-list.ts";

export interface Paged<Row> {
  readonly list: PagedList<Row>;
  readonly reload: () => void;
}

/** Rows up to which a reloaded list is loaded as far as the one that it replaces. */
export const reloadedRowsMax = 5000;

/**
 * A paged list that is reset when `inputs` change. On a reload the old rows stay until as many new
 * ones have arrived, so that scroll position and focus are kept.
 */
export function usePaged<Row>(fetchPage: FetchPage<Row>, inputs: readonly unknown[]): Paged<Row> {
  const [, redraw] = useState(0);
  const [round, setRound] = useState(0);
  const list = useMemo(
    () => new PagedList<Row>(fetchPage, () => redraw((before) => before + 1)),
    [...inputs, round],
  );
  const subject = useMemo(() => ({}), inputs);
  const shown = useRef({ subject, list });
  const old = shown.current;
  const isReload = old.subject === subject && old.list !== list;
  const isFollowed = isReload && old.list.count <= reloadedRowsMax;
  const wanted = isFollowed ? Math.max(1, old.list.count) : 1;
  useEffect(() => {
    if (list.count < wanted) list.need(0, wanted - 1);
  });
  useEffect(() => () => list.close(), [list]);
  const isReady = list.count >= wanted || list.isComplete || list.failure !== undefined;
  if (isReady || !isReload) shown.current = { subject, list };
  return { list: shown.current.list, reload: () => setRound((before) => before + 1) };
}
