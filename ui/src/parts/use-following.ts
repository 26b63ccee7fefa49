import { useEffect, useRef, useState } from "preact/hooks";
import { useFeed } from "../admin/feed.ts";
import type { ChangeEvent, LeaseEvent } from "../../../src/admin/api-types.ts";
import type { PagedList } from "./paged-list.ts";
import { reloadedRowsMax } from "./use-paged.ts";

type Change = ChangeEvent | LeaseEvent;

interface Followed<Row> {
  readonly list: PagedList<Row>;
  readonly reload: () => void;
  /** Whether a change of a client, or of a lease, may change the list. */
  readonly isAbout: (change: Change) => boolean;
}

const kinds = ["change", "lease"];
/** Shortest time between two reloads. */
const pauseMilliseconds = 1500;

/**
 * Reloads a list after changes by other clients. The rows that the user reads stay where they are.
 * Returns true if the list is too long for that: then the page says that it has changed.
 */
export function useFollowing<Row>({ list, reload, isAbout }: Followed<Row>): boolean {
  const [isStale, setStale] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ list, reload });
  latest.current = { list, reload };
  useEffect(() => setStale(false), [list]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const follow = (change: Change): void => {
    if (!isAbout(change)) return;
    if (latest.current.list.count > reloadedRowsMax) return setStale(true);
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current.reload();
    }, pauseMilliseconds);
  };
  useFeed(kinds, { change: follow, lease: follow });
  return isStale;
}
