import { readAccount, readAccounts } from "../account/account-record.ts";
import { refuseChange, type ChangeFault, type ChangeResult } from "../account/change-result.ts";
import { eventLog, topicOf, readEvents } from "../account/event-log.ts";
import { isObject } from "../account/field-table.ts";
import {
  findSubscriptionNameProblem,
  inputOf,
  parseSubscription,
  type SubscriptionInput,
} from "../account/parse-subscription.ts";
import {
  deleteSubscription,
  pauseSubscription,
  putSubscription,
  type SubscriptionChange,
} from "../account/subscription-changes.ts";
import {
  isListedWebhook,
  readState,
  readSubscriptions,
  type Destination,
  type NamedSubscription,
  type SubscriptionKey,
  type SubscriptionRecord,
  type SubscriptionState,
  eventRetries,
  retryPosition,
  subscriptions,
  subscriptionStates,
} from "../account/subscription.ts";
import type { LoopShare } from "../base/loop-share.ts";
import { comparePositions, logBounds } from "../store/logs.ts";
import type { Runtime } from "../operation/work.ts";
import type { View, Store } from "../store/store.ts";
import { readRecord } from "../store/typed-records.ts";
import { findHandshakeProblem, type WebhookRules } from "./webhook.ts";
import type { Clock } from "../base/world.ts";
import { feedStates } from "../blob/change-feed/feed-records.ts";

/** Event subscriptions and their progress, for the admin API, the metrics, and programs that run
 *  the server in their own process (`server/start.ts`). */

type Result = ChangeResult<SubscriptionChange>;

/** A subscription with its progress, as the admin API shows it. */
export interface SubscriptionStatus extends NamedSubscription {
  /** Undefined if another request is deleting the subscription. */
  readonly state: SubscriptionState | undefined;
  /** Events of the log after the stored position, whether they match or not; at most
   *  `backlogCountMax`. */
  readonly backlog: number;
}

/** Fields to change; absent fields stay as they are. */
interface SubscriptionPatch extends Readonly<Record<string, unknown>> {
  /** Undefined leaves the state as it is. */
  readonly isPaused?: boolean | undefined;
}

/** Limit of the count of events that wait for a subscription. */
export const backlogCountMax = 10_000;
/** Log entries that are counted per unit of work (`base/loop-share.ts`). */
const entriesPerUnit = 5;

interface ManagerParts extends Pick<Runtime, "store" | "random" | "clock"> {
  readonly rules: WebhookRules;
  readonly loop: LoopShare;
}

/** Creates, changes, lists and deletes subscriptions, and waits until all events are delivered, as
 *  a test does before it checks what a webhook has received. */
export class SubscriptionManager {
  readonly #parts: ManagerParts;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
  }

  /** The subscriptions of the accounts for which `isShown` returns true. */
  list(isShown: (account: string) => boolean): Promise<readonly SubscriptionStatus[]> {
    return this.#parts.store.snapshot(async (view) => {
      const all = await readSubscriptions(view);
      const shown = all.filter(({ account }) => isShown(account));
      return statusesOf(view, this.#parts.loop, shown);
    });
  }

  get(key: SubscriptionKey): Promise<SubscriptionStatus | undefined> {
    return this.#parts.store.snapshot(async (view) => {
      const all = await readSubscriptions(view, key.account);
      const found = all.filter(({ name }) => name === key.name);
      const [status] = await statusesOf(view, this.#parts.loop, found);
      return status;
    });
  }

  /** Creates or replaces a subscription. A webhook is asked first whether it wants the events. */
  async put(key: SubscriptionKey, input: unknown): Promise<Result> {
    const { store, random } = this.#parts;
    const wrongName = findSubscriptionNameProblem(key.name);
    if (wrongName !== undefined) return refuseChange("InvalidInput", wrongName);
    const parsed = parseSubscription("subscription", input);
    if (!parsed.ok) return refuseChange("InvalidInput", parsed.problems.join("; "));
    const refused = await this.#checkWebhook(key, parsed.value.destination);
    return refused ?? putSubscription(store, random, { ...key, subscription: parsed.value });
  }

  /** Changes the given fields of a subscription and of its destination; null removes a field.
   *  Absent fields stay as they are, among them the secret and the query of the URL, which no view
   *  shows. `record` is the record that the caller has read: a later change of another client is a
   *  conflict. */
  async change(
    key: SubscriptionKey,
    { isPaused, ...fields }: SubscriptionPatch,
    record: SubscriptionRecord,
  ): Promise<Result> {
    const { store, random } = this.#parts;
    if (Object.keys(fields).length > 0) {
      const parsed = parseSubscription("subscription", changedInput(inputOf(record), fields));
      if (!parsed.ok) return refuseChange("InvalidInput", parsed.problems.join("; "));
      const isMoved = fields["destination"] !== undefined;
      const { destination } = parsed.value;
      const refused = isMoved ? await this.#checkWebhook(key, destination) : undefined;
      const change = { ...key, subscription: parsed.value, expected: record.revision };
      const result = refused ?? (await putSubscription(store, random, change));
      if (!result.ok || isPaused === undefined) return result;
    }
    if (isPaused === undefined) return { ok: true, value: { isNew: false } };
    return pauseSubscription(store, random, { ...key, isPaused });
  }

  async #checkWebhook(
    { account }: SubscriptionKey,
    destination: Destination,
  ): Promise<ChangeFault | undefined> {
    if (destination.type === "queue") return undefined;
    const { random, rules } = this.#parts;
    if (!isListedWebhook(rules.prefixes, destination.url)) {
      const advice = "the operator of the server must list its beginning in --eventWebhooks";
      return refuseChange("WebhookNotListed", `${new URL(destination.url).origin}: ${advice}`);
    }
    const topic = topicOf(account);
    const problem = await findHandshakeProblem(rules, destination, { random, topic });
    return problem === undefined ? undefined : refuseChange("WebhookNotValidated", problem);
  }

  delete(key: SubscriptionKey): Promise<Result> {
    return deleteSubscription(this.#parts.store, key);
  }

  /** Resolves to the subscriptions and feeds that have not passed all events that were committed
   *  before the call within the time. */
  settled(millisecondsMax?: number): Promise<readonly string[]> {
    return waitUntilSettled(this.#parts, millisecondsMax);
  }
}

/** Returns a subscription with the given fields replaced, and without those that are null. A
 *  webhook is changed field by field, so that another URL keeps the secret. */
export function changedInput(
  { destination, ...before }: SubscriptionInput,
  { destination: given, ...fields }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isPart = isObject(given) && !("queue" in given) && "webhook" in destination;
  const next = isPart ? merged(destination, given) : (given ?? destination);
  return merged({ ...before, destination: next }, fields);
}

function merged(before: object, given: object): Readonly<Record<string, unknown>> {
  const all = Object.entries({ ...before, ...given });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** Returns subscriptions with their progress. Reads each log once, also for several of them. */
async function statusesOf(
  view: View,
  loop: LoopShare,
  found: readonly NamedSubscription[],
): Promise<readonly SubscriptionStatus[]> {
  const states = await Promise.all(found.map((each) => readState(view, each)));
  const read = found.map((each, at) => ({ ...each, state: states[at] }));
  const backlogs = new Map<SubscriptionState, number>();
  for (const account of new Set(found.map((each) => each.account))) {
    const own = read.flatMap(({ account: of, state }) => (of === account && state ? [state] : []));
    await countBacklogs(view, loop, account, { states: own, backlogs });
  }
  return read.map((each) => ({
    ...each,
    backlog: (each.state && backlogs.get(each.state)) ?? 0,
  }));
}

interface Backlogs {
  readonly states: readonly SubscriptionState[];
  readonly backlogs: Map<SubscriptionState, number>;
}

/** Counts the log entries after the position of each subscription of an account, from the newest
 *  position back: those between two positions are counted once. */
async function countBacklogs(
  view: View,
  loop: LoopShare,
  account: string,
  { states, backlogs }: Backlogs,
): Promise<void> {
  const owner = await readAccount(view, account);
  if (owner === undefined) return;
  const log = eventLog.key(owner.id);
  let { end } = logBounds(log, undefined, view.sequence);
  let backlog = 0;
  for (const state of states.toSorted((a, b) => comparePositions(b.position, a.position))) {
    const { start } = logBounds(log, state.position, view.sequence);
    const limit = backlogCountMax - backlog;
    for await (const entries of limit > 0 ? view.range({ start, end, limit }) : []) {
      backlog += entries.length;
      await loop.spend(Math.ceil(entries.length / entriesPerUnit));
    }
    backlogs.set(state, backlog);
    end = start;
  }
}

/** Interval in which a wait reads the store again without a change of what it watches: the account
 *  of a subscription may be replaced. */
const pollMilliseconds = 1000;
/** The position before the first entry of every log. */
const start = { sequence: 0, number: 0 };

/** Resolves to an empty list when every event that was committed before the call is in the change
 *  feed, and delivered, dead-lettered or counted as dropped for all subscriptions that are not
 *  paused; after `millisecondsMax` to the names of the feeds and subscriptions that are not as far.
 *  Only the store is read: any process may deliver. */
async function waitUntilSettled(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  millisecondsMax?: number,
): Promise<readonly string[]> {
  const target = await store.snapshot(async ({ sequence }) => sequence);
  let raise = (): void => {};
  const wake = (): void => raise();
  let isLate = false;
  const tables = [subscriptionStates.prefix([]), subscriptions.prefix([]), feedStates.prefix([])];
  const unwatch = tables.map((prefix) => store.watch(prefix, wake));
  const cancelEnd =
    millisecondsMax === undefined
      ? (): void => {}
      : clock.after(millisecondsMax, () => {
          isLate = true;
          wake();
        });
  try {
    for (;;) {
      const raised = new Promise<void>((resolve) => {
        raise = resolve;
      });
      const waiting = await store.snapshot((view) => findWaiting(view, target));
      if (waiting.length === 0 || isLate) return waiting;
      const cancel = clock.after(pollMilliseconds, wake);
      await raised;
      cancel();
    }
  } finally {
    cancelEnd();
    for (const end of unwatch) end();
  }
}

async function findWaiting(view: View, target: number): Promise<readonly string[]> {
  const waiting: string[] = [];
  for (const each of await readSubscriptions(view)) {
    if (!(await isSettledFor(view, each, target))) waiting.push(`${each.account}/${each.name}`);
  }
  for (const [name, { id, events }] of await readAccounts(view)) {
    if (events?.changeFeedDays === undefined) continue;
    if (await isInFeed(view, id, target)) continue;
    waiting.push(`${name}/$blobchangefeed`);
  }
  return waiting;
}

/** Whether the change feed of an account has passed all commits up to `target`. */
async function isInFeed(view: View, account: bigint, target: number): Promise<boolean> {
  const { cursor = start } = (await readRecord(view, feedStates, account)) ?? {};
  const [next] = await readEvents(view, account, cursor, 1);
  return next === undefined || next.position.sequence > target;
}

/** Whether a subscription has passed all commits up to `target`, with nothing left to retry. */
async function isSettledFor(view: View, key: NamedSubscription, target: number): Promise<boolean> {
  const owner = await readAccount(view, key.account);
  const state = await readState(view, key);
  if (owner === undefined || state === undefined || state.isPaused === true) return true;
  if (key.record.absentSince !== undefined) return true;
  // A reset has removed the events; the delivery has not seen it yet.
  if (state.accountId !== owner.id) return false;
  const [next] = await readEvents(view, owner.id, state.position, 1);
  if (next !== undefined && next.position.sequence <= target) return false;
  const range = { ...eventRetries.range([key.account, key.name]), limit: 1 };
  const [retry] = await view.readHead(range);
  return retry === undefined || retryPosition(retry.key).sequence > target;
}
