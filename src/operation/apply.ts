import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { copyWith } from "../base/copy-with.ts";
import type { ContentPlan, ContentRef } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import { afterWrite } from "../protocol/lease.ts";
import type { DeferredUpdate, Reply } from "./reply.ts";
import type { AnyTable, IndexEntry } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { ContentStore } from "../content/content.ts";
import type { Transaction } from "../store/store.ts";
import type { Call, ETaggedRecord } from "./execute.ts";
import { enqueueJob } from "./reclaim-jobs.ts";
import type { UsageChange } from "./quotas.ts";
import { decodeKey } from "../encoding/keys.ts";

/** Writes what a decision returned into its transaction: the target's record, effects, content,
 *  index entries, notices of changes, and the bytes that count against a quota. `run.ts` calls it
 *  for REST operations; imports, event delivery and background jobs apply effects with it. */

/** What a decision was based on, and the ETag and time of the write. */
interface WriteContext {
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
  reply: Reply<object>,
): Awaitable<void> {
  const isRecordOnly = reply.preserve === undefined && reply.effects === undefined;
  if (isRecordOnly) return applyRecord(content, tx, context, reply);
  return applyWithEffects(content, tx, context, reply);
}

/** Applies a reply with effects. A separate function, so that replies without effects do not create
 *  its closures. */
function applyWithEffects(
  content: ContentStore,
  tx: Transaction,
  context: WriteContext,
  reply: Reply<object>,
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
  reply: Reply<object>,
): Awaitable<void> {
  if (reply.put === undefined && !reply.remove) return undefined;
  const { call, scope, before, usage } = context;
  const { table, keyOf } = call.resource;
  if (table === undefined)
    throw new Error(`${call.operation.name} has no table to write its target to`);
  const record = reply.put === undefined ? undefined : withETag(context, reply.put);
  const key = table.key(keyOf(scope, call));
  if (!hasDependents(table, usage)) return writePlain(tx, table, key, record);
  const recordWrite = { table, key, record, plan: reply.content, origin: undefined, usage };
  return writeWithDependents(content, tx, recordWrite, before);
}

/** Applies a deferred update (a small write after a successful read, as of the last access time) to
 *  the current record, unless the record is gone or no longer needs it. */
export async function applyDeferredUpdate(
  content: ContentStore,
  tx: Transaction,
  { table, key: parts, change }: DeferredUpdate,
): Promise<void> {
  const key = table.key(parts);
  const before = await readRecord(tx, table, key);
  const record = before && change(before);
  if (record === undefined) return;
  const recordWrite = { table, key, record, plan: undefined, origin: undefined, usage: undefined };
  await write(content, tx, recordWrite, before);
}

/** Whose effects are applied: the SMB session that made the changes, and the counter of the
 *  account's bytes. */
interface EffectsOwner {
  /** Identifies the session that made the changes, which gets no change notices. */
  readonly origin?: string | undefined;
  /** Counts the bytes that are written; undefined if the account has no quota. */
  readonly usage?: UsageChange | undefined;
}

const noOwner: EffectsOwner = {};

/** Applies effects (changes that a decision requests) in order, synchronously unless the store
 *  returns a promise. */
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
  // The decision may have set the ETag itself; then no copy is needed.
  const hasETag = (record as ETaggedRecord).etag === newETag && lease === keptLease;
  return hasETag ? record : copyWith(record, { etag: newETag, lease: keptLease });
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
      const { table } = effect;
      const key = table.key(effect.key);
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
    case "append":
      tx.append(effect.log, effect.value);
      return undefined;
    case "reclaim": {
      const { job, freedBytes } = effect;
      const isCountedByJob = usage !== undefined && freedBytes === undefined;
      enqueueJob(tx, isCountedByJob ? { ...job, account: usage.account } : job, now);
      if (usage !== undefined) usage.bytes -= freedBytes ?? 0;
      return undefined;
    }
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
  { codec }: AnyTable,
  key: Uint8Array,
  record: object | undefined,
): void {
  if (record === undefined) tx.delete(key);
  else tx.put(key, codec.encode(record));
}

/** A write of a record, and of what its table derives: content references, index entries,
 *  notices. */
interface RecordWrite {
  readonly table: AnyTable;
  readonly key: Uint8Array;
  readonly record: object | undefined;
  readonly plan: ContentPlan | undefined;
  readonly origin: string | undefined;
  readonly usage: UsageChange | undefined;
}

function writeWithDependents(
  content: ContentStore,
  tx: Transaction,
  recordWrite: RecordWrite,
  loadedBefore: object | undefined,
): Awaitable<void> {
  if (loadedBefore !== undefined) return write(content, tx, recordWrite, loadedBefore);
  // An expired blob loads as absent although its record exists; read the record so that its content
  // references are released.
  return mapAwaitable(readRecord(tx, recordWrite.table, recordWrite.key), (before) =>
    write(content, tx, recordWrite, before),
  );
}

function readRecord(
  tx: Transaction,
  { codec }: AnyTable,
  key: Uint8Array,
): Awaitable<object | undefined> {
  return mapAwaitable(tx.get(key), (value) => value && codec.decode(value));
}

function write(
  content: ContentStore,
  tx: Transaction,
  recordWrite: RecordWrite,
  before: object | undefined,
): Awaitable<void> {
  const { table, record } = recordWrite;
  if (table.content === undefined) return writeFinal(tx, recordWrite, before, record);
  return mapAwaitable(applyContent(content, tx, recordWrite, before), (final) =>
    writeFinal(tx, recordWrite, before, final),
  );
}

/** Writes the record and what is derived from it (index entries, notices, counted bytes), after its
 *  content reference was determined. */
function writeFinal(
  tx: Transaction,
  { table, key, origin, usage }: RecordWrite,
  before: object | undefined,
  record: object | undefined,
): Awaitable<void> {
  usage?.count(table, before, record);
  if (table.indexes !== undefined) updateIndexes(tx, table, { key, before, after: record });
  if (record !== undefined) tx.put(key, table.codec.encode(record));
  else if (before !== undefined || table.content === undefined) tx.delete(key);
  if (table.changeNotices === undefined) return undefined;
  const notices = table.changeNotices({ key, before, after: record, origin }, tx);
  return mapAwaitable(notices, (entries) => {
    for (const notice of entries) tx.put(notice.key, notice.value);
  });
}

function applyContent(
  content: ContentStore,
  tx: Transaction,
  { table, key, record, plan }: RecordWrite,
  before: object | undefined,
): Awaitable<object | undefined> {
  const field = table.content ?? "";
  const oldContent = (before as Record<string, ContentRef> | undefined)?.[field];
  const newContent = (record as Record<string, ContentRef> | undefined)?.[field];
  if (record === undefined) {
    if (oldContent === undefined) return undefined;
    return mapAwaitable(content.applyPlan(tx, key, oldContent, undefined), () => undefined);
  }
  if (plan === undefined && newContent === oldContent) return record;
  const effective: ContentPlan | undefined =
    plan ?? (newContent === undefined ? undefined : { plan: "share", ref: newContent });
  return mapAwaitable(content.applyPlan(tx, key, oldContent, effective), (ref) => ({
    ...record,
    [field]: ref,
  }));
}

/** A change of a record; `before` is undefined for a new record, `after` for a deleted one. */
interface Change {
  readonly key: Uint8Array;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

const tagBytes = 1;
const none: readonly IndexEntry[] = [];

/** Writes and deletes the index entries of a record in the transaction that changes the record.
 *  Entries that stay the same are not written. */
export function updateIndexes(
  tx: Transaction,
  { indexes }: AnyTable,
  { key, before, after }: Change,
): void {
  if (indexes === undefined) return;
  const parts = () => decodeKey(key, tagBytes);
  const old = before === undefined ? none : indexes(before, parts);
  const next = after === undefined ? none : indexes(after, parts);
  if (old.length === 0 && next.length === 0) return;
  const wanted = new Map(next.map((entry) => [hexOf(entry.key), entry]));
  for (const entry of old) {
    const same = wanted.get(hexOf(entry.key));
    if (same === undefined) tx.delete(entry.key);
    else if (Buffer.compare(same.value, entry.value) === 0) wanted.delete(hexOf(entry.key));
  }
  for (const entry of wanted.values()) tx.put(entry.key, entry.value);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}
