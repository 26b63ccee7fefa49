import type { ContentPlan } from "../content/content-ref.ts";
import { ticksMax, type Ticks } from "../base/ticks.ts";
import type { KeyPart } from "../encoding/keys.ts";
import {
  anyTable,
  type AnyTable,
  type JobScope,
  type OwnerKind,
  type Table,
} from "../encoding/table.ts";

/** The changes that decisions request besides the record of their target. A decision is pure, so it
 *  returns effects as values; `apply.ts` writes them in the same transaction. Also the reclaim jobs
 *  that remove later what is too much for one transaction. */

/** One change. `add` changes a commutative counter (concurrent additions do not conflict), `append`
 *  adds an entry to a log in commit order, `reclaim` stores a job that deletes records later. */
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
  | { readonly effect: "append"; readonly log: Uint8Array; readonly value: Uint8Array }
  | {
      readonly effect: "reclaim";
      readonly job: ReclaimJob;
      /** Bytes of the removed records that this transaction subtracts from the usage of their
       *  account, so that the job must not; undefined: the job does. */
      readonly freedBytes?: number;
    };

/** Removal of unreachable records, done later in bounded transactions. */
export interface ReclaimJob {
  /** Name of the handler (`blob-container`). */
  readonly kind: string;
  /** What is removed, as the start of keys: the id of a container, for example. */
  readonly scope: JobScope;
  /** The job runs at this time or later; undefined: at once. */
  readonly due?: Ticks;
  /** Id of the account whose usage has the removed bytes; undefined if they were not counted. */
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

/** Deletes a record, its content references and its index entries. */
export function remove<K, R extends object>(table: Table<K, R>, key: K): Effect {
  return { effect: "remove", table: anyTable(table), key };
}

/** Adds to a commutative counter: concurrent additions do not conflict. */
export function add(counter: Uint8Array, delta: bigint): Effect {
  return { effect: "add", counter, delta };
}

export type LogAppend = Extract<Effect, { readonly effect: "append" }>;

/** Adds an entry to a log, whose entries are in commit order (`store/logs.ts`). */
export function appendTo(log: Uint8Array, value: Uint8Array): LogAppend {
  return { effect: "append", log, value };
}

/** Stores a reclaim job of a kind that a service handles itself. Undefined `due`: at once. */
export function reclaim(kind: string, scope: JobScope, due?: Ticks): Effect {
  return { effect: "reclaim", job: { kind, scope, ...(due === undefined ? {} : { due }) } };
}

/** Kinds of the reclaim jobs that remove all that an id owns, the present one first. An account has
 *  one job per service instead, `<service>-account`. */
export const ownerJobKinds: Readonly<Record<Exclude<OwnerKind, "account">, readonly string[]>> = {
  container: ["blob-container", "blob-directory"],
  upload: ["blob-blocks"],
  queue: ["queue-messages"],
  table: ["table-entities"],
  share: ["file-share"],
};

/** The job that removes all records that an id owns, as the blobs of a container. It is stored when
 *  the record that defines the id is deleted. */
export function ownerJob(kind: OwnerKind, id: bigint): ReclaimJob {
  const [jobKind] = kind === "account" ? [] : ownerJobKinds[kind];
  if (jobKind === undefined) throw new Error(`no reclaim job removes what an ${kind} owns`);
  return { kind: jobKind, scope: [id] };
}

/** Returns the effect that stores the job of `ownerJob`. `freedBytes` are subtracted from the usage
 *  in this transaction instead of by the job, because another record counts them from now on. */
export function reclaimOwned(kind: OwnerKind, id: bigint, freedBytes?: number): Effect {
  const job = ownerJob(kind, id);
  return { effect: "reclaim", job, ...(freedBytes !== undefined && { freedBytes }) };
}

/** The job that removes a record at the end of its period, as a soft-deleted blob after its
 *  retention days; undefined if it has no period. */
export function periodJobOf<R>(
  { period }: Pick<Table<never, R>, "period">,
  parts: readonly KeyPart[],
  record: R,
): ReclaimJob | undefined {
  const due = period?.ends(record);
  if (period === undefined || due === undefined || due >= ticksMax) return undefined;
  const kind = period.jobKindOf?.(parts) ?? period.jobKinds[0];
  return { kind, scope: period.scopeOf(parts, record), due };
}

/** Returns the effect that stores the job of `periodJobOf`, if the record has a period. */
export function periodJob<K, R>(table: Table<K, R>, key: K, record: R): readonly Effect[] {
  const job = periodJobOf(table, table.keyParts(key), record);
  return job === undefined ? [] : [{ effect: "reclaim", job }];
}
