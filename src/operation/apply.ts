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
import type { UsageChange } from "./usage.ts";

/** What a decision was based on, and the ETag and time of its write. */
export interface WriteContext {
  readonly call: Call;
  readonly scope: object;
  /** The target's record before the write; undefined if it did not exist. */
  readonly before: ETaggedRecord | undefined;
  readonly newETag: Ticks;
  readonly now: Ticks;
  /** Counts the bytes that are written; undefined if the account has no quota. */
  readonly usage: UsageChange | undefined;
}

/** Applies a reply to the transaction that decided it: first `preserve`, then the target's record,
 *  then `effects`. */
export function applyReply(
  content: ContentStore,
  tx: Transaction,
  context: WriteContext,
  reply: Reply<object, string>,
): Awaitable<void> {
  const isRecordOnly = reply.preserve === undefined && reply.effects === undefined;
  if (isRecordOnly) return applyRecord(content, tx, context, reply);
  return applyWithEffects(content, tx, context, reply);
}

/** A separate function, so that replies without effects do not create its closures. */
function applyWithEffects(
  content: ContentStore,
  tx: Transaction,
  context: WriteContext,
  reply: Reply<object, string>,
): Awaitable<void> {
  const { preserve = noEffects, effects = noEffects } = reply;
  return mapAwaitable(applyEffects(content, tx, preserve, context.now, context), () =>
    mapAwaitable(applyRecord(content, tx, context, reply), () =>
      applyEffects(content, tx, effects, context.now, context),
    ),
  );
}

const noEffects: readonly Effect[] = [];

function applyRecord(
  content: ContentStore,
  tx: Transaction,
  context: WriteContext,
  reply: Reply<object, string>,
): Awaitable<void> {
  if (reply.put === undefined && !reply.remove) return undefined;
  const { call, scope, before, usage } = context;
  const { table, keyOf } = call.resource;
  if (table === undefined)
    throw new Error(`${call.operation.name} has no table to write its target to`);
  const record = reply.put === undefined ? undefined : withETag(context, reply.put);
  const key = keyOf(scope, call);
  if (!hasDependents(table, usage)) return writePlain(tx, table, key, record);
  const recordWrite = { table, key, record, plan: reply.content, usage };
  return writeWithDependents(content, tx, recordWrite, before);
}

/** Applies the update to the current record, unless the record is gone or no longer needs it. */
export async function applyDeferredUpdate(
  content: ContentStore,
  tx: Transaction,
  { table, key, change }: DeferredUpdate,
): Promise<void> {
  const before = await readRecord(tx, table, key);
  const record = before && change(before);
  if (record !== undefined)
    await write(content, tx, { table, key, before, record, plan: undefined });
}

/** On whose behalf effects are applied. */
export interface EffectsOwner {
  /** Identifies the session that made the changes, which gets no change notices. */
  readonly origin?: string | undefined;
  /** Counts the bytes that are written; undefined if the account has no quota. */
  readonly usage?: UsageChange | undefined;
}

const noOwner: EffectsOwner = {};

/** Applies the effects in order, synchronously unless the store returns a promise. */
export function applyEffects(
  content: ContentStore,
  tx: Transaction,
  effects: readonly Effect[],
  now: Ticks,
  owner: EffectsOwner = noOwner,
): Awaitable<void> {
  const applyFrom = (from: number): Awaitable<void> => {
    for (let at = from; at < effects.length; at += 1) {
      const applied = applyEffect(content, tx, effects[at]!, now, owner);
      if (applied instanceof Promise) return applied.then(() => applyFrom(at + 1));
    }
    return undefined;
  };
  return applyFrom(0);
}

/** Sets the new ETag if the operation renews it. A write that checked the lease also removes a
 *  lease that has ended. */
function withETag({ call, newETag, now }: WriteContext, record: object): object {
  if (call.operation.etag !== "renew") return record;
  const lease = (record as ETaggedRecord).lease;
  const keptLease =
    call.operation.lease === "match-if-leased"
      ? afterWrite(lease, now, call.resource.leaseKind)
      : lease;
  // No copy is needed if the decision has set the ETag itself.
  const hasETag = (record as ETaggedRecord).etag === newETag && lease === keptLease;
  return hasETag ? record : { ...record, etag: newETag, lease: keptLease };
}

function applyEffect(
  content: ContentStore,
  tx: Transaction,
  effect: Effect,
  now: Ticks,
  { origin, usage }: EffectsOwner,
): Awaitable<void> {
  switch (effect.effect) {
    case "put":
    case "remove": {
      const { table, key } = effect;
      const isPut = effect.effect === "put";
      const record = isPut ? effect.record : undefined;
      if (!hasDependents(table, usage)) return writePlain(tx, table, key, record);
      const plan = isPut ? effect.content : undefined;
      const recordWrite = { table, key, record, plan, origin, usage };
      return writeWithDependents(content, tx, recordWrite, undefined);
    }
    case "add":
      tx.add(effect.counter, effect.delta);
      return undefined;
    case "reclaim":
      enqueueJob(tx, usage ? { ...effect.job, account: usage.account } : effect.job, now);
      return undefined;
    default:
      return effect satisfies never;
  }
}

/** Whether the table's definition requires content, index entries or change notices to be written
 *  with the record, or its bytes to be counted. */
function hasDependents(
  { content, indexes, changeNotices, countedBytes }: AnyTable,
  usage: UsageChange | undefined,
): boolean {
  if (content !== undefined || indexes !== undefined || changeNotices !== undefined) return true;
  return usage !== undefined && countedBytes !== undefined;
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
  recordWrite: Omit<RecordWrite, "before">,
  loadedBefore: object | undefined,
): Promise<void> {
  // An expired blob loads as absent although its record exists; read the record so that its content
  // references are released.
  const before = loadedBefore ?? (await readRecord(tx, recordWrite.table, recordWrite.key));
  await write(content, tx, { ...recordWrite, before });
}

async function readRecord(tx: Transaction, table: AnyTable, key: unknown) {
  const value = await tx.get(table.key(key));
  return value === undefined ? undefined : table.codec.decode(value);
}

interface RecordWrite {
  readonly table: AnyTable;
  readonly key: unknown;
  readonly before: object | undefined;
  readonly record: object | undefined;
  readonly plan: ContentPlan | undefined;
  readonly origin?: string | undefined;
  readonly usage?: UsageChange | undefined;
}

async function write(
  content: ContentStore,
  tx: Transaction,
  recordWrite: RecordWrite,
): Promise<void> {
  const { table, record, before, origin, usage } = recordWrite;
  const key = table.key(recordWrite.key);
  const finalRecord =
    table.content === undefined ? record : await applyContent(content, tx, key, recordWrite);
  usage?.count(table, before, finalRecord);
  if (table.indexes !== undefined) updateIndexes(tx, table, { key, before, after: finalRecord });
  if (finalRecord !== undefined) tx.put(key, table.codec.encode(finalRecord));
  else if (before !== undefined || table.content === undefined) tx.delete(key);
  if (table.changeNotices === undefined) return;
  const change = { key, before, after: finalRecord, origin };
  for (const notice of await table.changeNotices(change, tx)) tx.put(notice.key, notice.value);
}

async function applyContent(
  content: ContentStore,
  tx: Transaction,
  key: Uint8Array,
  { table, before, record, plan }: RecordWrite,
): Promise<object | undefined> {
  const field = table.content ?? "";
  const oldContent = (before as Record<string, ContentRef> | undefined)?.[field];
  const newContent = (record as Record<string, ContentRef> | undefined)?.[field];
  if (record === undefined) {
    if (oldContent !== undefined) await content.applyPlan(tx, key, oldContent, undefined);
    return undefined;
  }
  if (plan === undefined && newContent === oldContent) return record;
  const effective: ContentPlan | undefined =
    plan ?? (newContent === undefined ? undefined : { plan: "share", ref: newContent });
  return { ...record, [field]: await content.applyPlan(tx, key, oldContent, effective) };
}
