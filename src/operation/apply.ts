import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { ContentPlan, ContentRef } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import { afterWrite } from "../protocol/lease.ts";
import type { DeferredUpdate, Reply } from "./reply.ts";
import type { AnyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { ContentStore } from "../content/content.ts";
import type { Transaction } from "../store/store.ts";
import type { Call, ETaggedRecord } from "./execute.ts";
import { updateIndexes } from "./indexes.ts";
import { enqueueJob } from "./reclaim-jobs.ts";

export interface WriteContext {
  readonly call: Call;
  readonly scope: object;
  readonly before: ETaggedRecord | undefined;
  readonly newETag: Ticks;
  readonly now: Ticks;
}

/** Applies a decision to the transaction that made it. */
export function applyReply(
  content: ContentStore,
  tx: Transaction,
  settled: WriteContext,
  reply: Reply<object, string>,
): Awaitable<void> {
  const isAlone = reply.preserve === undefined && reply.effects === undefined;
  if (isAlone) return applyRecord(content, tx, settled, reply);
  return applyWithEffects(content, tx, settled, reply);
}

/** A separate function: closures created in `applyReply` would cost calls without effects, too. */
function applyWithEffects(
  content: ContentStore,
  tx: Transaction,
  settled: WriteContext,
  reply: Reply<object, string>,
): Awaitable<void> {
  const { preserve = noEffects, effects = noEffects } = reply;
  return mapAwaitable(applyEffects(content, tx, preserve, settled.now), () =>
    mapAwaitable(applyRecord(content, tx, settled, reply), () =>
      applyEffects(content, tx, effects, settled.now),
    ),
  );
}

const noEffects: readonly Effect[] = [];

function applyRecord(
  content: ContentStore,
  tx: Transaction,
  settled: WriteContext,
  reply: Reply<object, string>,
): Awaitable<void> {
  if (reply.put === undefined && !reply.remove) return undefined;
  const { call, scope, before } = settled;
  const { table, keyOf } = call.resource;
  if (table === undefined)
    throw new Error(`${call.operation.name} has no table to write its target to`);
  const record = reply.put === undefined ? undefined : withETag(settled, reply.put);
  const key = keyOf(scope, call);
  if (!hasDependents(table)) return writePlain(tx, table, key, record);
  return writeWithDependents(content, tx, { table, key, record, plan: reply.content }, before);
}

/** Applies the update unless the record no longer needs it. */
export async function applyDeferredUpdate(
  content: ContentStore,
  tx: Transaction,
  { table, key, change }: DeferredUpdate,
): Promise<void> {
  const before = await present(tx, table, key);
  const record = before && change(before);
  if (record !== undefined)
    await write(content, tx, { table, key, before, record, plan: undefined });
}

/** Applies the effects in order, synchronously unless the store returns a promise. */
export function applyEffects(
  content: ContentStore,
  tx: Transaction,
  effects: readonly Effect[],
  now: Ticks,
  origin?: string,
): Awaitable<void> {
  const applyFrom = (from: number): Awaitable<void> => {
    for (let at = from; at < effects.length; at += 1) {
      const applied = applyEffect(content, tx, effects[at]!, now, origin);
      if (applied instanceof Promise) return applied.then(() => applyFrom(at + 1));
    }
    return undefined;
  };
  return applyFrom(0);
}

/** Sets the new ETag if the operation renews it, and removes an expired lease. */
function withETag({ call, newETag, now }: WriteContext, record: object): object {
  if (call.operation.etag !== "renew") return record;
  const lease = (record as ETaggedRecord).lease;
  const kept =
    call.operation.lease === "match-if-leased"
      ? afterWrite(lease, now, call.resource.leaseKind)
      : lease;
  // The decision has set the ETag itself: no copy is needed.
  const hasETag = (record as ETaggedRecord).etag === newETag && lease === kept;
  return hasETag ? record : { ...record, etag: newETag, lease: kept };
}

function applyEffect(
  content: ContentStore,
  tx: Transaction,
  effect: Effect,
  now: Ticks,
  origin: string | undefined,
): Awaitable<void> {
  switch (effect.effect) {
    case "put":
    case "remove": {
      const { table, key } = effect;
      const isPut = effect.effect === "put";
      const record = isPut ? effect.record : undefined;
      if (!hasDependents(table)) return writePlain(tx, table, key, record);
      const plan = isPut ? effect.content : undefined;
      return writeWithDependents(content, tx, { table, key, record, plan, origin }, undefined);
    }
    case "add":
      tx.add(effect.counter, effect.delta);
      return undefined;
    case "reclaim":
      enqueueJob(tx, effect.job, now);
      return undefined;
    default:
      return effect satisfies never;
  }
}

/** Whether content, index entries or change notices depend on the record. */
function hasDependents({ content, indexes, changeNotices }: AnyTable): boolean {
  return content !== undefined || indexes !== undefined || changeNotices !== undefined;
}

function writePlain(
  tx: Transaction,
  table: AnyTable,
  key: unknown,
  record: object | undefined,
): void {
  if (record === undefined) tx.delete(table.key(key));
  else tx.put(table.key(key), table.codec.encode(record));
}

async function writeWithDependents(
  content: ContentStore,
  tx: Transaction,
  writing: Omit<Writing, "before">,
  known: object | undefined,
): Promise<void> {
  // An expired blob loads as absent although its record exists; read the record so that its content
  // references are released.
  const before = known ?? (await present(tx, writing.table, writing.key));
  await write(content, tx, { ...writing, before });
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
  if (table.indexes !== undefined) updateIndexes(tx, table, { key, before, after: settledRecord });
  if (settledRecord !== undefined) tx.put(key, table.codec.encode(settledRecord));
  else if (before !== undefined || table.content === undefined) tx.delete(key);
  if (table.changeNotices === undefined) return;
  const change = { key, before, after: settledRecord, origin };
  for (const echo of await table.changeNotices(change, tx)) tx.put(echo.key, echo.value);
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
    if (held !== undefined) await content.applyPlan(tx, key, held, undefined);
    return undefined;
  }
  if (plan === undefined && wanted === held) return record;
  const effective: ContentPlan | undefined =
    plan ?? (wanted === undefined ? undefined : { plan: "share", ref: wanted });
  return { ...record, [field]: await content.applyPlan(tx, key, held, effective) };
}
