import {
  eventRetries,
  retryPosition,
  type RetryRecord,
  type SubscriptionKey,
} from "../account/subscription.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";
import type { Random } from "../base/world.ts";
import { comparePositions, type LogPosition } from "../store/logs.ts";
import type { View } from "../store/store.ts";
import { subjectOf } from "./render-event.ts";

/** The failed deliveries of a subscription, and the time of the next attempt of each. */

/** The pauses of Azure Event Grid after the first, second … failed attempt. The last one
 *  repeats. */
const pauseSeconds = [10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200];
/** A pause is longer by a random part, at most this share, so that retries do not coincide. */
const jitterPart = 0.1;

interface FailedAttempt {
  readonly now: Ticks;
  /** Number of failed attempts, including this one. */
  readonly attempts: number;
  /** Time after which no attempt is made. */
  readonly latest: Ticks;
}

/** Returns when a failed delivery is tried again. */
export function nextAttempt(random: Random, { now, attempts, latest }: FailedAttempt): Ticks {
  const seconds = pauseSeconds[Math.min(attempts, pauseSeconds.length) - 1] ?? pauseSeconds[0]!;
  const [byte = 0] = random.bytes(1);
  const milliseconds = seconds * 1000 * (1 + (jitterPart * byte) / 255);
  const next = now + (ticksFromSeconds(1) * BigInt(Math.round(milliseconds))) / 1000n;
  return next < latest ? next : latest;
}

/** A retry in memory: its event stays in the store. */
interface ScheduledRetry {
  readonly position: LogPosition;
  dueAt: Ticks;
  /** False until a transaction has stored it. */
  isStored: boolean;
}

interface SubjectRetries {
  readonly subject: string;
  /** In the order of the log. Only the first one is tried, so that the order is kept. */
  readonly list: ScheduledRetry[];
  isBusy: boolean;
}

/** The retries of one subscription in memory. Of each subject only the first one is tried. */
export class RetrySchedule {
  readonly #subjects = new Map<string, SubjectRetries>();
  #count = 0;
  /** No retry is due before this time, so that `takeDue` need not look at every subject; undefined
   *  if it must. */
  #nothingDueBefore: Ticks | undefined;

  get count(): number {
    return this.#count;
  }

  has(subject: string): boolean {
    return this.#subjects.has(subject);
  }

  add(subject: string, retry: ScheduledRetry): void {
    const present = this.#subjects.get(subject);
    if (present === undefined) {
      this.#subjects.set(subject, { subject, list: [retry], isBusy: false });
    } else present.list.push(retry);
    this.#count += 1;
    this.#nothingDueBefore = undefined;
  }

  /** Returns due retries and marks their subjects as busy; `ended` or `postponed` must follow. */
  takeDue(now: Ticks, countMax: number): readonly { subject: string; position: LogPosition }[] {
    if (this.#nothingDueBefore !== undefined && now < this.#nothingDueBefore) return [];
    const due: { subject: string; position: LogPosition }[] = [];
    let next: Ticks | undefined;
    for (const each of this.#subjects.values()) {
      const [head] = each.list;
      if (head === undefined || each.isBusy || !head.isStored) continue;
      if (head.dueAt > now) {
        if (next === undefined || head.dueAt < next) next = head.dueAt;
      } else if (due.length < countMax) {
        each.isBusy = true;
        due.push({ subject: each.subject, position: head.position });
      } else next = now;
    }
    this.#nothingDueBefore = next ?? now + idleTicks;
    return due;
  }

  /** When a retry is due next; undefined if none is. */
  nextDue(): Ticks | undefined {
    return this.#subjects.size === 0 ? undefined : this.#nothingDueBefore;
  }

  /** The first retry of a subject is delivered or given up, so the next one is due at once. */
  ended(subject: string): void {
    const retries = this.#subjects.get(subject);
    if (retries === undefined) return;
    retries.list.shift();
    this.#count -= 1;
    retries.isBusy = false;
    const [next] = retries.list;
    if (next === undefined) this.#subjects.delete(subject);
    else next.dueAt = 0n;
    this.#nothingDueBefore = undefined;
  }

  /** Called when another attempt for a subject has failed; the next one is made at `dueAt`. */
  postponed(subject: string, dueAt: Ticks): void {
    const retries = this.#subjects.get(subject);
    const [head] = retries?.list ?? [];
    if (retries === undefined || head === undefined) return;
    head.dueAt = dueAt;
    retries.isBusy = false;
    this.#nothingDueBefore = undefined;
  }

  /** Called after a transaction has stored the retry: from now on it can become due. Adds it if it
   *  is not in the schedule. */
  stored(subject: string, position: LogPosition, dueAt: Ticks = 0n): void {
    const list = this.#subjects.get(subject)?.list ?? [];
    const retry = list.find((each) => comparePositions(each.position, position) === 0);
    if (retry === undefined) this.add(subject, { position, dueAt, isStored: true });
    else Object.assign(retry, { dueAt, isStored: true });
    this.#nothingDueBefore = undefined;
  }
}

/** If there is no stored retry, the schedule is checked again after this time. */
const idleTicks = ticksFromSeconds(60);

/** Reads the stored retries of a subscription, at most `retriesMax`, into memory. */
export async function readSchedule(view: View, key: SubscriptionKey): Promise<RetrySchedule> {
  const schedule = new RetrySchedule();
  for await (const entries of view.range(eventRetries.range([key.account, key.name]))) {
    for (const entry of entries) {
      const { event, nextAt }: RetryRecord = eventRetries.codec.decode(entry.value);
      const position = retryPosition(entry.key);
      schedule.add(subjectOf(event), { position, dueAt: nextAt, isStored: true });
    }
  }
  return schedule;
}
