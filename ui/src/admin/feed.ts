import { useEffect, useRef, useState } from "preact/hooks";
import { FeedStream } from "./feed-stream.ts";
import type {
  Refusal,
  LeaseEvent,
  ReturnedMessage,
  ChangeEvent,
} from "../../../src/admin/api-types.ts";

export type { Caller, Refusal } from "../../../src/admin/api-types.ts";

/** The stream of all views of the page that are not about one object. */
const sharedStream = new FeedStream("");

/** Callbacks by kind of event. */
interface Listeners {
  readonly refused?: (refusal: Refusal) => void;
  readonly lease?: (event: LeaseEvent) => void;
  readonly message?: (event: ReturnedMessage) => void;
  readonly change?: (event: ChangeEvent) => void;
  readonly read?: (event: ChangeEvent) => void;
  readonly health?: (event: unknown) => void;
  readonly missed?: (event: { readonly count: number }) => void;
}

/** Subscribes to the request feed while a component is shown; the browser reconnects by itself. */
export function useFeed(kinds: readonly string[], listeners: Listeners): boolean {
  return useFeedState(kinds, listeners).isLive;
}

/** Subscribes to the events of one object, with reads: the server records them only while a stream
 *  is about the object. */
export function useObjectFeed(
  of: Readonly<Record<string, string | undefined>>,
  listeners: Listeners,
): boolean {
  const named = Object.entries(of).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, value]],
  );
  const kinds = ["refused", "lease", "change", "read"];
  return useFeedState(kinds, listeners, new URLSearchParams(named).toString()).isLive;
}

interface FeedState {
  readonly isLive: boolean;
  /** Whether the connection was lost or could not be opened. */
  readonly hasFailed: boolean;
  readonly reopen: () => void;
}

/** As `useFeed`, with the state of the connection. */
export function useFeedState(
  kinds: readonly string[],
  listeners: Listeners,
  object = "",
): FeedState {
  const [isLive, setLive] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const latest = useRef(listeners);
  latest.current = listeners;
  const stream = useRef<FeedStream>(undefined);
  const isSeen = useSeen();
  useEffect(() => {
    if (!isSeen) return;
    const used = object === "" ? sharedStream : new FeedStream(object);
    stream.current = used;
    return used.join({
      kinds,
      hear: (kind, data) =>
        (latest.current as Record<string, ((event: unknown) => void) | undefined>)[kind]?.(data),
      onState: (isOpen, isBroken) => {
        setLive(isOpen);
        setFailed(isBroken);
      },
    });
  }, [kinds.join(","), object, isSeen]);
  return { isLive, hasFailed, reopen: () => stream.current?.reopen() };
}

const forgottenMilliseconds = 60_000;

/**
 * False for a tab that was hidden for 60 s. A browser opens only about six connections to a server
 * for all tabs together; hidden tabs must not occupy them.
 */
function useSeen(): boolean {
  const [isSeen, setSeen] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setSeen(false), forgottenMilliseconds);
      else setSeen(true);
    };
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return isSeen;
}
