import { overlaps, type ByteSpan } from "../../file/locks/byte-ranges.ts";
import type { LockState } from "../../file/locks/lock-state.ts";
import { lettersOf } from "./open-files.ts";

/** What prevents a request from proceeding, and the client that can end it. */
export interface Holder {
  readonly client: string;
  /** Id of the SMB handle. */
  readonly open?: string;
  /** Id of an Azure lease. */
  readonly lease?: string;
  readonly what: string;
}

const holdersMax = 20;

/** The handles whose caching grants are being broken. */
export function breakHolders({ opens, caches }: LockState): readonly Holder[] {
  return caches
    .flatMap(({ key, held, breaking }): readonly Holder[] => {
      if (breaking === undefined) return [];
      const to = lettersOf(breaking.to) || "none";
      const what = `caching ${lettersOf(held)}, asked to keep ${to}`;
      const owners = opens.filter(({ cacheKey }) => cacheKey === key);
      return owners.map(({ id, client }) => ({ client, open: String(id), what }));
    })
    .slice(0, holdersMax);
}

/** The handles with byte-range locks that overlap the wanted ones. */
export function rangeHolders(
  { opens, ranges }: LockState,
  wanted: readonly ByteSpan[],
): readonly Holder[] {
  const clients = new Map(opens.map(({ id, client }) => [id, client]));
  return ranges
    .filter((held) => wanted.some((span) => overlaps(held, span)))
    .map(({ open, offset, length, exclusive }) => ({
      client: clients.get(open) ?? "",
      open: String(open),
      what: `${exclusive ? "exclusive" : "shared"} lock of ${length} bytes at ${offset}`,
    }))
    .slice(0, holdersMax);
}

export interface WaitEdge {
  readonly waiter: string;
  readonly holders: readonly string[];
}

/** Groups of clients that wait for each other: none of them can proceed unless a request fails or
 *  times out. Each group is listed once, in the order in which its clients wait. */
export function findCycles(edges: readonly WaitEdge[]): readonly (readonly string[])[] {
  const next = new Map<string, Set<string>>();
  for (const { waiter, holders } of edges) {
    const known = next.get(waiter) ?? new Set();
    for (const holder of holders) if (holder !== waiter) known.add(holder);
    next.set(waiter, known);
  }
  const cycles: string[][] = [];
  const done = new Set<string>();
  for (const start of next.keys()) followFrom(start, { next, done, cycles });
  return cycles;
}

interface Search {
  readonly next: ReadonlyMap<string, ReadonlySet<string>>;
  /** Clients from which everything was followed. */
  readonly done: Set<string>;
  readonly cycles: string[][];
}

/** Follows the edges depth first, without recursion: a chain may be as long as there are waits. */
function followFrom(start: string, { next, done, cycles }: Search): void {
  const path: { client: string; left: Iterator<string> }[] = [];
  const enter = (client: string): void => {
    path.push({ client, left: (next.get(client) ?? new Set<string>()).values() });
  };
  if (!done.has(start)) enter(start);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const { value: following, done: isEnd } = top.left.next();
    if (isEnd === true) {
      done.add(top.client);
      path.pop();
      continue;
    }
    const at = path.findIndex(({ client }) => client === following);
    if (at >= 0) cycles.push(path.slice(at).map(({ client }) => client));
    else if (!done.has(following)) enter(following);
  }
}
