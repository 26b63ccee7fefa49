import type { ContentPlan } from "../content/content-ref.ts";
import type { Ticks } from "../base/ticks.ts";
import { anyTable, type AnyTable, type Table } from "../encoding/table.ts";

/** What a decision wants changed; applied in the transaction that decided. */
export type Effect =
  | {
      readonly effect: "put";
      readonly table: AnyTable;
      readonly key: unknown;
      readonly record: object;
      readonly content: ContentPlan | undefined;
    }
  | { readonly effect: "remove"; readonly table: AnyTable; readonly key: unknown }
  | { readonly effect: "add"; readonly counter: Uint8Array; readonly delta: bigint }
  | { readonly effect: "reclaim"; readonly job: ReclaimJob };

/** Work that may be done later, in bounded steps, because nothing can reach it any more. */
export interface ReclaimJob {
  /** Names the handler, e.g. `blob-container`. */
  readonly kind: string;
  readonly scope: readonly (string | bigint)[];
  /** Not before this moment; at once if left out. */
  readonly due?: Ticks;
}

/** Writes a record. On a table with content, `content` says what its bytes become; without it
 *  the record keeps the content it has (or, if new, shares the one it refers to). */
export function put<K, R extends object>(
  table: Table<K, R>,
  key: K,
  record: R,
  content?: ContentPlan,
): Effect {
  return { effect: "put", table: anyTable(table), key, record, content };
}

export function remove<K, R extends object>(table: Table<K, R>, key: K): Effect {
  return { effect: "remove", table: anyTable(table), key };
}

export function add(counter: Uint8Array, delta: bigint): Effect {
  return { effect: "add", counter, delta };
}

export function reclaim(kind: string, ...scope: readonly (string | bigint)[]): Effect {
  return { effect: "reclaim", job: { kind, scope } };
}

/** As `reclaim`, but what has a term is looked at only when the term is over. */
export function reclaimAt(
  due: Ticks,
  kind: string,
  ...scope: readonly (string | bigint)[]
): Effect {
  return { effect: "reclaim", job: { kind, scope, due } };
}
