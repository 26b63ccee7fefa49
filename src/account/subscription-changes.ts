import type { Log, Random } from "../base/world.ts";
import { newId } from "../operation/identifiers.ts";
import { appendsMax } from "../store/logs.ts";
import type { Store, Transaction } from "../store/store.ts";
import { accounts, type AccountRecord } from "./account-record.ts";
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

type SubscriptionFaultCode =
  | "AccountNotFound"
  | "SubscriptionNotFound"
  | "SubscriptionIsConfigured"
  | "SubscriptionIsStored"
  | "SubscriptionChanged"
  | "TooManySubscriptions";

export type SubscriptionChangeResult =
  | { readonly ok: true; readonly isNew: boolean }
  | { readonly ok: false; readonly code: SubscriptionFaultCode; readonly message: string };

interface Change extends SubscriptionKey {
  readonly subscription: Subscription;
  readonly isConfigured?: true | undefined;
  /** The revision that is replaced; undefined: any. */
  readonly expected?: bigint | undefined;
  /** Whether a new subscription is paused. */
  readonly isPaused?: true | undefined;
}

/** Creates or replaces a subscription. The first one of an account makes it write its events, in
 *  the same transaction: every later commit is delivered. A replaced one keeps its position. */
export function putSubscription(
  store: Store,
  random: Random,
  change: Change,
): Promise<SubscriptionChangeResult> {
  return store.transact(async (tx) => {
    // The account of a configured one may be created later.
    if (change.isConfigured === undefined && !(await hasAccount(tx, change.subscription))) {
      return refuse("AccountNotFound", "the account of the queue does not exist");
    }
    return putSubscriptionIn(tx, random, change);
  });
}

/** As `putSubscription`, in a transaction. */
export async function putSubscriptionIn(
  tx: Transaction,
  random: Random,
  { account, name, subscription, isConfigured, expected, isPaused }: Change,
): Promise<SubscriptionChangeResult> {
  const owner = await accountIn(tx, account);
  if (owner === undefined) return refuse("AccountNotFound", `no account "${account}"`);
  const key = { account, name };
  const value = await tx.get(subscriptions.key(key));
  const before = value && subscriptions.codec.decode(value);
  if (before !== undefined && isServed(before) && before.isConfigured !== isConfigured) {
    return isConfigured === true ? stored(key) : configured(key);
  }
  if (expected !== undefined && before?.revision !== expected) {
    return refuse("SubscriptionChanged", `subscription "${name}" was changed by another request`);
  }
  const count = owner.events?.subscriptions ?? 0;
  if (before === undefined && count >= subscriptionsMax) {
    const message = `account "${account}" has ${subscriptionsMax} subscriptions already`;
    return refuse("TooManySubscriptions", message);
  }
  const createdAt = before?.createdAt ?? tx.now;
  const record: SubscriptionRecord = {
    ...subscription,
    revision: newId(random),
    createdAt,
    isConfigured,
  };
  tx.put(subscriptions.key(key), subscriptions.codec.encode(record));
  if (before !== undefined) return { ok: true, isNew: false };
  putAccount(tx, account, withSubscriptions(owner, count + 1));
  const state = { ...newState(tx, owner.id), isPaused };
  tx.put(subscriptionStates.key(key), subscriptionStates.codec.encode(state));
  return { ok: true, isNew: true };
}

/** Whether the account of a queue exists. The one of a webhook is elsewhere. */
async function hasAccount(tx: Transaction, { destination }: Subscription): Promise<boolean> {
  if (destination.type !== "queue" || destination.account === undefined) return true;
  return (await accountIn(tx, destination.account)) !== undefined;
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
): Promise<SubscriptionChangeResult> {
  return store.transact(async (tx) => {
    const value = await tx.get(subscriptions.key(key));
    const state = await readState(tx, key);
    if (value === undefined || state === undefined) return notFound(key);
    if ((state.isPaused === true) === isPaused) return { ok: true, isNew: false };
    // A new revision ends the present delivery, in whichever process it runs.
    const record = { ...subscriptions.codec.decode(value), revision: newId(random) };
    tx.put(subscriptions.key(key), subscriptions.codec.encode(record));
    const next = { ...state, isPaused: isPaused ? (true as const) : undefined };
    tx.put(subscriptionStates.key(key), subscriptionStates.codec.encode(next));
    return { ok: true, isNew: false };
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
): Promise<SubscriptionChangeResult> {
  return store.transact(async (tx) => {
    const value = await tx.get(subscriptions.key(key));
    if (value === undefined) return notFound(key);
    const record = subscriptions.codec.decode(value);
    if (record.isConfigured === true && isServed(record)) return configured(key);
    await removeIn(tx, key);
    const owner = await accountIn(tx, key.account);
    if (owner !== undefined) {
      const count = Math.max(0, (owner.events?.subscriptions ?? 0) - 1);
      putAccount(tx, key.account, withSubscriptions(owner, count));
    }
    return { ok: true, isNew: false };
  });
}

/** Removes a subscription with its state and its retries, of which there are at most
 *  `retriesMax`. */
async function removeIn(tx: Transaction, key: SubscriptionKey): Promise<void> {
  tx.delete(subscriptions.key(key));
  tx.delete(subscriptionStates.key(key));
  for await (const entries of tx.range(eventRetries.range([key.account, key.name]))) {
    for (const entry of entries) tx.delete(entry.key);
  }
}

/** Removes all subscriptions of an account that is deleted in this transaction. */
export async function removeSubscriptions(tx: Transaction, account: string): Promise<void> {
  for (const { name } of await readSubscriptions(tx, account))
    await removeIn(tx, { account, name });
}

interface ConfiguredParts {
  readonly random: Random;
  readonly log: Log;
}

/** Stores the subscriptions of the configuration, and ends the delivery of those that are no longer
 *  in it. Returns why others cannot be stored. */
export async function ensureSubscriptions(
  store: Store,
  settings: Accounts,
  { random, log }: ConfiguredParts,
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
    const value = await tx.get(subscriptions.key(key));
    const record = value && subscriptions.codec.decode(value);
    if (record?.isConfigured !== true || !isServed(record)) return;
    // A new revision ends the present delivery, in whichever process it runs.
    const next = { ...record, absentSince: tx.now, revision: newId(random) };
    tx.put(subscriptions.key(key), subscriptions.codec.encode(next));
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

/** Drops the retries after the id of the account has changed: a reset, a load or a restore has
 *  replaced its data and its events. The position stays: it is one in the commits of the store. */
export async function adoptAccount(
  tx: Transaction,
  key: SubscriptionKey,
  accountId: bigint,
): Promise<void> {
  const state = await readState(tx, key);
  if (state === undefined || state.accountId === accountId) return;
  for await (const entries of tx.range(eventRetries.range([key.account, key.name]))) {
    for (const entry of entries) tx.delete(entry.key);
  }
  const next = { ...state, accountId, retries: 0 };
  tx.put(subscriptionStates.key(key), subscriptionStates.codec.encode(next));
}

export async function accountIn(
  tx: Pick<Transaction, "get">,
  name: string,
): Promise<AccountRecord | undefined> {
  const value = await tx.get(accounts.key(name));
  return value && accounts.codec.decode(value);
}

function putAccount(tx: Transaction, name: string, record: AccountRecord): void {
  tx.put(accounts.key(name), accounts.codec.encode(record));
}

function withSubscriptions(record: AccountRecord, count: number): AccountRecord {
  const { events, ...others } = record;
  const { subscriptions: _before, ...readers } = events ?? {};
  const after: AccountRecord["events"] & object =
    count === 0 ? readers : { ...readers, subscriptions: count };
  return Object.keys(after).length === 0 ? others : { ...others, events: after };
}

function configured({ account, name }: SubscriptionKey): SubscriptionChangeResult {
  const which = `subscription "${name}" of account "${account}"`;
  const message = `${which} is configured: change the configuration of the server`;
  return refuse("SubscriptionIsConfigured", message);
}

function stored({ account, name }: SubscriptionKey): SubscriptionChangeResult {
  const which = `subscription "${name}" of account "${account}"`;
  const advice = "delete it (etagere events delete), or give the configured one another name";
  return refuse("SubscriptionIsStored", `${which} was created on the server: ${advice}`);
}

function notFound({ account, name }: SubscriptionKey): SubscriptionChangeResult {
  return refuse("SubscriptionNotFound", `account "${account}": no subscription "${name}"`);
}

function refuse(code: SubscriptionFaultCode, message: string): SubscriptionChangeResult {
  return { ok: false, code, message };
}
