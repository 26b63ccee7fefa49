import type { Awaitable } from "../core/awaitable.ts";
import type { ContentPlan, ContentRef } from "../core/content-ref.ts";
import type { Effect } from "../core/effects.ts";
import { afterWrite } from "../core/lease.ts";
import type { Note, Reply } from "../core/operation.ts";
import type { AnyTable } from "../core/table.ts";
import type { Ticks } from "../core/ticks.ts";
import type { ContentStore } from "../content/content.ts";
import type { Transaction } from "../store/store.ts";
import type { Call, Stamped } from "./execute.ts";
import { moveIndexes } from "./indexes.ts";
import { enqueueJob } from "./reclaim-jobs.ts";

export interface Settled {
  readonly call: Call;
  readonly scope: object;
  readonly before: Stamped | undefined;
  readonly stamp: Ticks;
  readonly now: Ticks;
}

/** Turns a decision into writes of the transaction that made it. */
export function applyReply(
  content: ContentStore,
  tx: Transaction,
  settled: Settled,
  reply: Reply<object, string>,
): Awaitable<void> {
  const { call, scope } = settled;
  const { table, keyOf } = call.resource;
  const isAlone = reply.effects === undefined && reply.preserve === undefined;
  const isLone = isAlone && table !== undefined && !isFollowed(table);
  if (!isLone || (reply.put === undefined && !reply.remove)) {
    return applyAll(content, tx, settled, reply);
  }
  const key = table.key(keyOf(scope, call));
  if (reply.put === undefined) tx.delete(key);
  else tx.put(key, table.codec.encode(stampRecord(settled, reply.put)));
  return undefined;
}

async function applyAll(
  content: ContentStore,
  tx: Transaction,
  settled: Settled,
  reply: Reply<object, string>,
): Promise<void> {
  const { call, scope, before } = settled;
  const { table, keyOf } = call.resource;
  await applyEffects(content, tx, reply.preserve ?? [], settled.now);
  if (reply.put !== undefined || reply.remove) {
    if (table === undefined) throw new Error(`${call.operation.name} has no record to write`);
    const key = keyOf(scope, call);
    const record = reply.put === undefined ? undefined : stampRecord(settled, reply.put);
    // What counts as absent, as an expired blob does, may still lie there with its bytes.
    const held = before ?? (isFollowed(table) ? await present(tx, table, key) : undefined);
    await write(content, tx, { table, key, before: held, record, plan: reply.content });
  }
  await applyEffects(content, tx, reply.effects ?? [], settled.now);
}

/** Makes a note, if there is still something to note. */
export async function applyNote(
  content: ContentStore,
  tx: Transaction,
  { table, key, change }: Note,
): Promise<void> {
  const before = await present(tx, table, key);
  const record = before && change(before);
  if (record !== undefined)
    await write(content, tx, { table, key, before, record, plan: undefined });
}

export async function applyEffects(
  content: ContentStore,
  tx: Transaction,
  effects: readonly Effect[],
  now: Ticks,
  origin?: string,
): Promise<void> {
  for (const effect of effects) await applyEffect(content, tx, effect, { now, origin });
}

/** A renewed record gets the new ETag, and a lease that had run out is forgotten by the write. */
function stampRecord({ call, stamp, now }: Settled, record: object): object {
  if (call.operation.etag !== "renew") return record;
  const lease = (record as Stamped).lease;
  const kept =
    call.operation.lease === "match-if-leased"
      ? afterWrite(lease, now, call.resource.leaseKind)
      : lease;
  // What the decision has stamped itself may be of a form that no copy has.
  const isStamped = (record as Stamped).etag === stamp && lease === kept;
  return isStamped ? record : { ...record, etag: stamp, lease: kept };
}

async function applyEffect(
  content: ContentStore,
  tx: Transaction,
  effect: Effect,
  { now, origin }: { readonly now: Ticks; readonly origin: string | undefined },
): Promise<void> {
  switch (effect.effect) {
    case "put":
    case "remove": {
      const { table, key } = effect;
      const before = isFollowed(table) ? await present(tx, table, key) : undefined;
      const record = effect.effect === "put" ? effect.record : undefined;
      const plan = effect.effect === "put" ? effect.content : undefined;
      await write(content, tx, { table, key, before, record, plan, origin });
      return;
    }
    case "add":
      tx.add(effect.counter, effect.delta);
      return;
    case "reclaim":
      enqueueJob(tx, effect.job, now);
      return;
    default:
      effect satisfies never;
  }
}

/** Whether something else hangs on the record that is about to change. */
function isFollowed({ content, indexes, echoes }: AnyTable): boolean {
  return [content, indexes, echoes].some((follower) => follower !== undefined);
}

async function present(tx: Transaction, table: AnyTable, key: unknown) {
  const value = await tx.get(table.key(key));
  return value === undefined ? undefined : table.codec.decode(value);
}

interface Writing {
  readonly table: AnyTable;
  readonly key: unknown;
  readonly before: object | undefined;
  readonly record: object | undefined;
  readonly plan: ContentPlan | undefined;
  readonly origin?: string | undefined;
}

async function write(content: ContentStore, tx: Transaction, writing: Writing): Promise<void> {
  const { table, record, before, origin } = writing;
  const key = table.key(writing.key);
  const settledRecord =
    table.content === undefined ? record : await settleContent(content, tx, key, writing);
  if (table.indexes !== undefined) moveIndexes(tx, table, { key, before, after: settledRecord });
  if (settledRecord !== undefined) tx.put(key, table.codec.encode(settledRecord));
  else if (before !== undefined || table.content === undefined) tx.delete(key);
  if (table.echoes === undefined) return;
  const change = { key, before, after: settledRecord, origin };
  for (const echo of await table.echoes(change, tx)) tx.put(echo.key, echo.value);
}

async function settleContent(
  content: ContentStore,
  tx: Transaction,
  key: Uint8Array,
  { table, before, record, plan }: Writing,
): Promise<object | undefined> {
  const field = table.content ?? "";
  const held = (before as Record<string, ContentRef> | undefined)?.[field];
  const wanted = (record as Record<string, ContentRef> | undefined)?.[field];
  if (record === undefined) {
    if (held !== undefined) await content.settle(tx, key, held, undefined);
    return undefined;
  }
  if (plan === undefined && wanted === held) return record;
  const effective: ContentPlan | undefined =
    plan ?? (wanted === undefined ? undefined : { plan: "share", ref: wanted });
  return { ...record, [field]: await content.settle(tx, key, held, effective) };
}
