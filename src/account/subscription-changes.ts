import type { Log, Random } from "../base/world.ts";
import { newId } from "../operation/identifiers.ts";
import { appendsMax } from "../store/logs.ts";
import type { Store, Transaction } from "../store/store.ts";
import { putRecord, readRecord } from "../store/typed-records.ts";
import { accounts, readAccount, type AccountRecord } from "./account-record.ts";
import { refuseChange, type ChangeFault, type ChangeResult } from "./change-result.ts";
import { subscriptionsMax } from "./parse-subscription.ts";
import type { Accounts } from "./settings.ts";
import {
  eventRetries,
  readState,
  readSubscriptions,
  subscriptions,
  subscriptionStates,
  type Subscription,
  type SubscriptionKey,
  type SubscriptionRecord,
  type SubscriptionState,
} from "./subscription.ts";

/** Creates, replaces, pauses and deletes event subscriptions, each change in one transaction.
 *  Called by the admin API (`events/subscription-manager.ts`), for the subscriptions of the
 *  configuration at each start, and by `etagere load`. */

/** What a change of a subscription has done. */
export interface SubscriptionChange {
  /** Whether it has created the subscription. */
  readonly isNew: boolean;
}

interface Change extends SubscriptionKey {
  readonly subscription: Subscription;
  readonly isConfigured?: true | undefined;
  /** The revision that is replaced; undefined: any. */
  readonly expected?: bigint | undefined;
  readonly isPaused?: true | undefined;
}

/** Creates or replaces a subscription. The first one of an account makes it write its events, in
 *  the same transaction: every later commit is delivered. A replaced one keeps its position. */
export function putSubscription(
  store: Store,
  random: Random,
  change: Change,
): Promise<ChangeResult<SubscriptionChange>> {
  return store.transact(async (tx) => {
    // The account of a configured one may be created later.
    if (change.isConfigured === undefined && !(await hasAccount(tx, change.subscription))) {
      return refuseChange("AccountNotFound", "the account of the queue does not exist");
    }
    return putSubscriptionIn(tx, random, change);
  });
}

/** Like `putSubscription`, in a transaction of the caller. */
export async function putSubscriptionIn(
  tx: Transaction,
  random: Random,
  { account, name, subscription, isConfigured, expected, isPaused }: Change,
): Promise<ChangeResult<SubscriptionChange>> {
  const owner = await readAccount(tx, account);
  if (owner === undefined) return refuseChange("AccountNotFound", `no account "${account}"`);
  const key = { account, name };
  const before = await readRecord(tx, subscriptions, key);
  if (before !== undefined && isServed(before) && before.isConfigured !== isConfigured) {
    return isConfigured === true ? stored(key) : configured(key);
  }
  if (expected !== undefined && before?.revision !== expected) {
    return refuseChange(
      "SubscriptionChanged",
      `subscription "${name}" was changed by another request`,
    );
  }
  const count = owner.events?.subscriptions ?? 0;
  if (before === undefined && count >= subscriptionsMax) {
    const message = `account "${account}" has ${subscriptionsMax} subscriptions already`;
    return refuseChange("TooManySubscriptions", message);
  }
  const fields = { revision: newId(random), createdAt: before?.createdAt ?? tx.now, isConfigured };
  const record: SubscriptionRecord = { ...subscription, ...fields };
  putRecord(tx, subscriptions, key, record);
  if (before !== undefined) return { ok: true, value: { isNew: false } };
  putRecord(tx, accounts, account, withSubscriptions(owner, count + 1));
  putRecord(tx, subscriptionStates, key, { ...newState(tx, owner.id), isPaused });
  return { ok: true, value: { isNew: true } };
}

/** Whether the account of a queue exists. The one of a webhook is elsewhere. */
async function hasAccount(tx: Transaction, { destination }: Subscription): Promise<boolean> {
  if (destination.type !== "queue" || destination.account === undefined) return true;
  return (await readAccount(tx, destination.account)) !== undefined;
}

/** Whether a subscription is stored by the admin API, or in the present configuration. */
function isServed({ absentSince }: SubscriptionRecord): boolean {
  return absentSince === undefined;
}

/** Pauses or resumes the delivery, also of a configured subscription. */
export function pauseSubscription(
  store: Store,
  random: Random,
  { isPaused, ...key }: SubscriptionKey & { readonly isPaused: boolean },
): Promise<ChangeResult<SubscriptionChange>> {
  return store.transact(async (tx) => {
    const record = await readRecord(tx, subscriptions, key);
    const state = await readState(tx, key);
    if (record === undefined || state === undefined) return notFound(key);
    if ((state.isPaused === true) === isPaused) return { ok: true, value: { isNew: false } };
    // A new revision ends the present delivery, in whichever process it runs.
    putRecord(tx, subscriptions, key, { ...record, revision: newId(random) });
    const next = { ...state, isPaused: isPaused ? (true as const) : undefined };
    putRecord(tx, subscriptionStates, key, next);
    return { ok: true, value: { isNew: false } };
  });
}

/** The state of a subscription that gets the events of all commits after this one's view. */
function newState({ sequence }: Transaction, accountId: bigint): SubscriptionState {
  const counts = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0, missed: 0 };
  const position = { sequence, number: appendsMax - 1 };
  return { accountId, position, retries: 0, failures: [], ...counts };
}

export function deleteSubscription(
  store: Store,
  key: SubscriptionKey,
): Promise<ChangeResult<SubscriptionChange>> {
  return store.transact(async (tx) => {
    const record = await readRecord(tx, subscriptions, key);
    if (record === undefined) return notFound(key);
    if (record.isConfigured === true && isServed(record)) return configured(key);
    await removeIn(tx, key);
    const owner = await readAccount(tx, key.account);
    if (owner !== undefined) {
      const count = Math.max(0, (owner.events?.subscriptions ?? 0) - 1);
      putRecord(tx, accounts, key.account, withSubscriptions(owner, count));
    }
    return { ok: true, value: { isNew: false } };
  });
}

/** Removes a subscription with its state and its retries, of which there are at most
 *  `retriesMax`. */
async function removeIn(tx: Transaction, key: SubscriptionKey): Promise<void> {
  tx.delete(subscriptions.key(key));
  tx.delete(subscriptionStates.key(key));
  await removeRetries(tx, key);
}

async function removeRetries(tx: Transaction, { account, name }: SubscriptionKey): Promise<void> {
  for await (const entries of tx.range(eventRetries.range([account, name]))) {
    for (const entry of entries) tx.delete(entry.key);
  }
}

/** Removes all subscriptions of an account that is deleted in this transaction. */
export async function removeSubscriptions(tx: Transaction, account: string): Promise<void> {
  for (const { name } of await readSubscriptions(tx, account))
    await removeIn(tx, { account, name });
}

/** Stores the subscriptions of the configuration, and ends the delivery of subscriptions that the
 *  configuration no longer contains. Returns the problems of those that cannot be stored. */
export async function ensureSubscriptions(
  store: Store,
  settings: Accounts,
  { random, log }: { readonly random: Random; readonly log: Log },
): Promise<readonly string[]> {
  const problems: string[] = [];
  const present = await store.snapshot((view) => readSubscriptions(view));
  for (const { account, name, record } of present) {
    const wanted = settings.get(account)?.subscriptions ?? {};
    if (record.isConfigured !== true || Object.hasOwn(wanted, name)) continue;
    await markAbsent(store, random, { account, name });
    const advice = "subscription is not in the configuration; nothing is delivered";
    log.warn({ account, subscription: name }, advice);
  }
  for (const account of settings.names()) {
    for (const [name, subscription] of Object.entries(settings.get(account)?.subscriptions ?? {})) {
      const before = present.find((each) => each.account === account && each.name === name);
      if (before !== undefined && isSame(before.record, subscription)) continue;
      const change = { account, name, subscription, isConfigured: true } as const;
      const result = await putSubscription(store, random, change);
      if (!result.ok) problems.push(result.message);
    }
  }
  return problems;
}

function markAbsent(store: Store, random: Random, key: SubscriptionKey): Promise<void> {
  return store.transact(async (tx) => {
    const record = await readRecord(tx, subscriptions, key);
    if (record?.isConfigured !== true || !isServed(record)) return;
    // A new revision ends the present delivery, in whichever process it runs.
    const next = { ...record, absentSince: tx.now, revision: newId(random) };
    putRecord(tx, subscriptions, key, next);
  });
}

function isSame(record: SubscriptionRecord, subscription: Subscription): boolean {
  const { revision: _revision, createdAt: _created, isConfigured, ...present } = record;
  if (isConfigured !== true || !isServed(record)) return false;
  return canonical(present) === canonical(subscription);
}

/** A text that is equal for equal values: the fields are sorted, and undefined ones omitted. */
function canonical(value: object): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Deletes the retries of a subscription whose account has a new id: a reset, a load or a restore
 *  has replaced its data and its events. The position stays valid: it is a position in the commits
 *  of the store, not of the account. */
export async function adoptAccount(
  tx: Transaction,
  key: SubscriptionKey,
  accountId: bigint,
): Promise<void> {
  const state = await readState(tx, key);
  if (state === undefined || state.accountId === accountId) return;
  await removeRetries(tx, key);
  putRecord(tx, subscriptionStates, key, { ...state, accountId, retries: 0 });
}

function withSubscriptions(record: AccountRecord, count: number): AccountRecord {
  const { events, ...others } = record;
  const { subscriptions: _before, ...readers } = events ?? {};
  const after: AccountRecord["events"] & object =
    count === 0 ? readers : { ...readers, subscriptions: count };
  return Object.keys(after).length === 0 ? others : { ...others, events: after };
}

function configured({ account, name }: SubscriptionKey): ChangeFault {
  const problem = "is configured: change the configuration of the server";
  const message = `subscription "${name}" of account "${account}" ${problem}`;
  return refuseChange("SubscriptionIsConfigured", message);
}

function stored({ account, name }: SubscriptionKey): ChangeFault {
  const advice = "delete it (etagere events delete), or give the configured one another name";
  const problem = `was created on the server: ${advice}`;
  return refuseChange(
    "SubscriptionIsStored",
    `subscription "${name}" of account "${account}" ${problem}`,
  );
}

function notFound({ account, name }: SubscriptionKey): ChangeFault {
  return refuseChange("SubscriptionNotFound", `account "${account}": no subscription "${name}"`);
}
