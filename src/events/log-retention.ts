import { readAccounts, type AccountRecord } from "../account/account-record.ts";
import { eventLog, eventLogTrims, topicOf } from "../account/event-log.ts";
import type { Accounts } from "../account/settings.ts";
import { deleteSubscription } from "../account/subscription-changes.ts";
import {
  readState,
  readSubscriptions,
  subscriptionStates,
  type NamedSubscription,
} from "../account/subscription.ts";
import { formatIso } from "../base/dates.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";
import { feedStates } from "../blob/change-feed/feed-records.ts";
import { runOnce, type Attempt, type Runtime } from "../operation/work.ts";
import { comparePositions, logBounds, positionInLog, type LogPosition } from "../store/logs.ts";
import type { Entry, View } from "../store/store.ts";
import { readRecord } from "../store/typed-records.ts";
import { receiveLetter, storeLetter, type DeadLetter } from "./dead-letter.ts";
import { filterOf } from "./event-filter.ts";
import { toEventGrid, type EventSource } from "./render-event.ts";

/** Deletes entries of event logs, the lists of the changes of accounts that subscriptions and the
 *  change feed read. Rounds of a background task call it. */

/** Limits of an event log. Beyond them the oldest entries are deleted, although a subscription has
 *  not read them. */
export interface LogLimits {
  readonly ageSecondsMax: number;
  readonly bytesMax: number;
}

interface RetentionParts {
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly limits: LogLimits;
  readonly sourceOf: (account: string) => EventSource;
}

/** A log with entries, and the account that it is of. */
interface AccountLog {
  readonly id: bigint;
  readonly name: string;
  readonly record: AccountRecord;
}

/** A reader of a log: the change feed or a subscription. Needs the entries after its position. */
interface LogReader {
  readonly position: LogPosition;
  /** Undefined for the change feed, which keeps entries until it has read them. */
  readonly subscription?: NamedSubscription;
}

/** How long entries are kept that all readers have passed: a client that reads the log as a stream
 *  (`/admin/v1/events`) may continue there. */
const passedSecondsMax = 3600;
/** Bounds of a round: entries that one transaction deletes, entries that are counted, and logs. */
const deletedMax = 2000;
const countedMax = 50_000;
const logsMax = 10_000;
/** A log that is too large is reduced to this part of its limit. The dead letter about the removed
 *  events is an event, too: at the limit it would remove the next event, and so on. */
const keptPart = 0.9;
const start: LogPosition = { sequence: 0, number: 0 };

/** Deletes entries of event logs: those that all readers have passed, and the oldest ones of a log
 *  that exceeds its limits. */
export class LogRetention {
  readonly #parts: RetentionParts;
  readonly #sizes = new Map<bigint, LogSize>();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Does a bounded amount of work; resolves to whether there is more. */
  async round(): Promise<boolean> {
    const { store } = this.#parts.runtime;
    await this.#deleteAbsent();
    const logs = await store.snapshot(readLogs);
    for (const id of this.#sizes.keys()) {
      if (!logs.some((log) => log.id === id)) this.#sizes.delete(id);
    }
    let hasMore = false;
    for (const log of logs) {
      const isCounted = await this.#count(log);
      const isTrimmed = await this.#trim(log);
      hasMore ||= !isCounted || !isTrimmed;
    }
    return hasMore;
  }

  /** Deletes the subscriptions of an earlier configuration that the present one has not contained
   *  for as long as events are kept. */
  async #deleteAbsent(): Promise<void> {
    const { runtime, limits } = this.#parts;
    const { all, now } = await runtime.store.snapshot(async (view) => ({
      all: await readSubscriptions(view),
      now: view.now,
    }));
    const before = now - ticksFromSeconds(limits.ageSecondsMax);
    for (const { account, name, record } of all) {
      const isOld = record.absentSince !== undefined && record.absentSince <= before;
      if (isOld) await deleteSubscription(runtime.store, { account, name });
    }
  }

  /** Adds the bytes of further entries of a log; resolves to whether all are counted. */
  async #count({ id }: AccountLog): Promise<boolean> {
    const size = this.#sizes.get(id) ?? { bytes: 0, countedTo: undefined, isShrinking: false };
    this.#sizes.set(id, size);
    let count = 0;
    await this.#parts.runtime.store.snapshot(async (view) => {
      const bounds = logBounds(eventLog.key(id), size.countedTo, view.sequence);
      for await (const entries of view.range({ ...bounds, limit: countedMax })) {
        for (const { key, value } of entries) {
          size.bytes += key.length + value.length;
          size.countedTo = positionInLog(key);
          count += 1;
        }
      }
    });
    size.isShrinking ||= size.bytes > this.#parts.limits.bytesMax;
    return count < countedMax;
  }

  /** Deletes the first entries that need not be kept; resolves to whether no more are left. */
  async #trim(log: AccountLog): Promise<boolean> {
    const { runtime } = this.#parts;
    const { entries, readers, now } = await runtime.store.snapshot(async (view) => ({
      entries: await firstEntries(view, log.id),
      readers: await readersOf(view, log),
      now: view.now,
    }));
    const deletable = this.#deletable(log, entries, readers, now);
    if (deletable.length === 0) return true;
    if (!(await this.#delete(log, deletable, readers, now))) return true;
    const size = this.#sizes.get(log.id);
    if (size !== undefined) {
      for (const { key, value } of deletable) size.bytes -= key.length + value.length;
      size.isShrinking &&= size.bytes > this.#parts.limits.bytesMax * keptPart;
    }
    return deletable.length < deletedMax;
  }

  #deletable(
    { id, record }: AccountLog,
    entries: readonly Entry[],
    readers: readonly LogReader[],
    now: Ticks,
  ): readonly Entry[] {
    const { limits } = this.#parts;
    const keptSeconds = record.events === undefined ? 0 : passedSecondsMax;
    const { bytes = 0, isShrinking = false } = this.#sizes.get(id) ?? {};
    let excess = isShrinking ? bytes - limits.bytesMax * keptPart : 0;
    const end = entries.findIndex(({ key, value }) => {
      const position = positionInLog(key);
      const { time } = eventLog.codec.decode(value);
      const waiting = readers.filter((reader) => comparePositions(reader.position, position) < 0);
      const isLarge = excess > 0;
      excess -= key.length + value.length;
      if (waiting.length === 0) return !isLarge && now - time < ticksFromSeconds(keptSeconds);
      // Kept for the change feed, which this server writes itself, and which must have every entry.
      if (waiting.some(({ subscription }) => subscription === undefined)) return true;
      return !isLarge && now - time < ticksFromSeconds(limits.ageSecondsMax);
    });
    return end < 0 ? entries : entries.slice(0, end);
  }

  /** Deletes the entries. A subscription that has not read them continues after them; the missed
   *  events are counted, and reported in a dead letter. Resolves to false, without deleting
   *  anything in this round, if a subscription has moved its position since it was read. */
  async #delete(
    log: AccountLog,
    entries: readonly Entry[],
    readers: readonly LogReader[],
    now: Ticks,
  ): Promise<boolean> {
    const { runtime } = this.#parts;
    const last = positionInLog(entries.at(-1)!.key);
    // Events of dead letters are never delivered, so they do not count as missed.
    const containers = new Set(
      readers.map(({ subscription }) => subscription?.record.deadLetterContainer),
    );
    const counted = entries.filter(
      ({ value }) => !containers.has(eventLog.codec.decode(value).container),
    );
    const losses = readers.flatMap((reader) => this.#lossOf(log, counted, reader) ?? []);
    const letters: (DeadLetter | undefined)[] = [];
    for (const loss of losses) letters.push(await this.#letterOf(loss, now));
    try {
      await runOnce(runtime, {
        effect: "writes",
        mayUseReserve: true,
        attempt: async (attempt) => {
          const tx = attempt.tx!;
          for (const { key } of entries) tx.delete(key);
          tx.put(eventLogTrims.key(log.id), eventLogTrims.codec.encode({ position: last }));
          for (const [index, loss] of losses.entries()) {
            await this.#storeLoss(attempt, loss, letters[index], last);
          }
        },
      });
      return true;
    } catch (error) {
      if (error instanceof ReaderMoved) return false;
      throw error;
    } finally {
      for (const letter of letters) if (letter) runtime.content.discard(letter.received);
    }
  }

  #lossOf(log: AccountLog, entries: readonly Entry[], reader: LogReader): Loss | undefined {
    const { position, subscription } = reader;
    if (subscription === undefined) return undefined;
    const isWanted = filterOf(subscription.record);
    const source = this.#parts.sourceOf(log.name);
    const unread = entries.filter(({ key }) => comparePositions(positionInLog(key), position) > 0);
    if (unread.length === 0) return undefined;
    const missed = unread
      .map(({ key, value }) => ({
        position: positionInLog(key),
        event: eventLog.codec.decode(value),
      }))
      .filter((logged) => isWanted(toEventGrid(logged, source)));
    const [first, end] = [missed[0], missed.at(-1)];
    return { subscription, from: position, count: missed.length, first, last: end };
  }

  async #letterOf(loss: Loss, now: Ticks): Promise<DeadLetter | undefined> {
    const { account, name, record } = loss.subscription;
    const container = record.deadLetterContainer;
    if (container === undefined || loss.first === undefined || loss.last === undefined) {
      return undefined;
    }
    const letter = {
      topic: topicOf(account),
      deadLetterReason: "RemovedFromEventLog",
      missedEvents: loss.count,
      firstEventTime: formatIso(loss.first.event.time),
      lastEventTime: formatIso(loss.last.event.time),
    };
    const place = { account, container, subscription: name };
    return receiveLetter(this.#parts.runtime, place, now, letter);
  }

  async #storeLoss(
    attempt: Attempt,
    { subscription, from, count }: Loss,
    letter: DeadLetter | undefined,
    to: LogPosition,
  ): Promise<void> {
    const tx = attempt.tx!;
    const state = await readState(tx, subscription);
    if (state === undefined) return;
    if (comparePositions(state.position, from) !== 0) throw new ReaderMoved();
    const next = { ...state, position: to, missed: state.missed + count };
    tx.put(subscriptionStates.key(subscription), subscriptionStates.codec.encode(next));
    if (letter === undefined) return;
    const { account, name, record } = subscription;
    const place = { account, container: record.deadLetterContainer ?? "", subscription: name };
    const code = await storeLetter(attempt, this.#parts.accounts, place, letter);
    if (code !== undefined) throw new Error(`dead letter cannot be stored: ${code}`);
  }
}

/** The size of a log, counted up to the limit of one round. */
interface LogSize {
  bytes: number;
  countedTo: LogPosition | undefined;
  isShrinking: boolean;
}

/** Ends a deletion without a commit, because a subscription has moved its position since it was
 *  read. */
class ReaderMoved extends Error {}

/** What a subscription loses: entries that are deleted before it has read them. */
interface Loss {
  readonly subscription: NamedSubscription;
  readonly from: LogPosition;
  /** How many of these entries match the filter of the subscription. */
  readonly count: number;
  readonly first: LoggedLoss | undefined;
  readonly last: LoggedLoss | undefined;
}

interface LoggedLoss {
  readonly event: { readonly time: Ticks };
}

async function firstEntries(view: View, id: bigint): Promise<readonly Entry[]> {
  const bounds = logBounds(eventLog.key(id), undefined, view.sequence);
  return view.readHead({ ...bounds, limit: deletedMax });
}

async function readersOf(
  view: View,
  { id, name, record }: AccountLog,
): Promise<readonly LogReader[]> {
  const readers: LogReader[] = [];
  if (record.events?.changeFeedDays !== undefined) {
    const state = await readRecord(view, feedStates, id);
    readers.push({ position: state?.cursor ?? start });
  }
  for (const subscription of await readSubscriptions(view, name)) {
    const state = await readState(view, subscription);
    if (state?.accountId === id) readers.push({ position: state.position, subscription });
  }
  return readers;
}

/** The logs that have entries, of accounts that exist. A log of a deleted account is removed with
 *  the other records of that account. */
async function readLogs(view: View): Promise<readonly AccountLog[]> {
  const ids = new Set<bigint>();
  const { end } = eventLog.range([]);
  let from = eventLog.range([]).start;
  while (ids.size < logsMax) {
    const [entry] = await view.readHead({ start: from, end, limit: 1 });
    if (entry === undefined) break;
    const id = eventLog.parts(entry.key)[0] as bigint;
    ids.add(id);
    from = eventLog.range([id]).end;
  }
  if (ids.size === 0) return [];
  const all = [...(await readAccounts(view))];
  const logs = all.map(([name, record]): AccountLog => ({ id: record.id, name, record }));
  return logs.filter(({ id }) => ids.has(id));
}
