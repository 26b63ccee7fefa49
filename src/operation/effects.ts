import type { ContentPlan } from "../content/content-ref.ts";
import type { Ticks } from "../base/ticks.ts";
import { anyTable, type AnyTable, type Table } from "../encoding/table.ts";

/** A change that a decision requests; it is applied in the transaction that made the decision.
 *  `add` changes a commutative counter. */
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

/** Removal of unreachable records, done later in bounded transactions. */
export interface ReclaimJob {
  /** Names the handler, e.g. `blob-container`. */
  readonly kind: string;
  /** Key of what is removed, for example the id of a container. */
  readonly scope: readonly (string | bigint)[];
  /** The job runs at this time or later; undefined: at once. */
  readonly due?: Ticks;
  /** Id of the account with a quota that the removed bytes belong to; undefined if they were not
   *  counted. */
  readonly account?: bigint | undefined;
}

/** Writes a record. On a table with content, `content` is the record's new content; without it an
 *  existing record keeps its content, and a new record shares the content that it refers to. */
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

/** Adds to a commutative counter: concurrent additions do not conflict. */
export function add(counter: Uint8Array, delta: bigint): Effect {
  return { effect: "add", counter, delta };
}

/** Stores a reclaim job. */
export function reclaim(kind: string, ...scope: readonly (string | bigint)[]): Effect {
  return { effect: "reclaim", job: { kind, scope } };
}

/** As `reclaim`, but not before `due`. */
export function reclaimAt(
  due: Ticks,
  kind: string,
  ...scope: readonly (string | bigint)[]
): Effect {
  return { effect: "reclaim", job: { kind, scope, due } };
}
