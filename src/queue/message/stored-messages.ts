import { allAwaitable, mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { successor } from "../../encoding/keys.ts";
import { ticksMax, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import type { IndexTarget } from "../../store/store.ts";
import {
  expiries,
  messageCount,
  messages,
  visibilityIndex,
  type MessageRecord,
} from "../records.ts";
import { messageIdOfBytes } from "./message-id.ts";
import type { IdentifiedMessage } from "./message-xml.ts";
import { add, periodJob, put, remove, type Effect } from "../../operation/effects.ts";

/** Messages in the store. Each has a record, an entry in the visibility index (by next-visible
 *  time) and one in the expiry index; these functions read and change all of them together. Used by
 *  the operations on messages and by Delete Queue. */

/** What a scan of the visibility index from its start has found. */
interface QueueHead {
  /** The messages, in the order of their next-visible times. */
  readonly visible: readonly IdentifiedMessage[];
  /** Expired messages that the scan skipped. Get Messages removes them. */
  readonly expired: readonly VisibilityEntry[];
}

/** One request skips at most this many expired messages, which bounds its transaction. Get Messages
 *  removes them, so that the next request reaches the messages after them. */
const expiredSkippedMax = 500;
/** Most index entries of one step of a scan that goes on after expired messages: the steps grow
 *  with the number of expired messages found, up to this length. */
const expiredPerStepMax = 250;

/** Returns the first `count` visible messages of a queue, for Get and Peek Messages. It reads no
 *  index entries beyond the last message that it returns, so that only requests for the same
 *  messages conflict: Put Message inserts behind them. */
export function readQueueHead(
  view: RecordView,
  queue: bigint,
  count: number,
): Awaitable<QueueHead> {
  const end = visibilityIndex.prefix([queue, view.now + 1n]);
  // Index keys are queue, `visibleAt`, message id; every present `visibleAt` is encoded in as many
  // bytes as `view.now`. The message id therefore begins after `end.length` bytes.
  const indexTarget = { skip: end.length, prefix: messages.prefix([queue]) };
  const scan: HeadScan = { view, count, end, indexTarget, visible: [], expired: [] };
  return mapAwaitable(scanFrom(scan, visibilityIndex.prefix([queue])), () =>
    mapAwaitable(loadMessages(view, queue, scan.visible.slice(0, count)), (visible) => ({
      visible,
      expired: scan.expired,
    })),
  );
}

/** The scan of one `readQueueHead`; its steps add to `visible` and `expired`. */
interface HeadScan {
  readonly view: RecordView;
  readonly count: number;
  readonly end: Uint8Array;
  readonly indexTarget: IndexTarget;
  readonly visible: VisibilityEntry[];
  readonly expired: VisibilityEntry[];
}

function scanFrom(scan: HeadScan, start: Uint8Array): Awaitable<void> {
  const { view, count, end, indexTarget, visible, expired } = scan;
  if (visible.length >= count || expired.length >= expiredSkippedMax) return undefined;
  const limit = Math.max(count - visible.length, Math.min(expired.length, expiredPerStepMax));
  return mapAwaitable(
    view.readHead(visibilityIndex, { start, end, limit, indexTarget }),
    (found) => {
      for (const { key, record } of found) {
        const entry = entryOf(key, record);
        (record.expires > view.now ? visible : expired).push(entry);
      }
      const last = found.at(-1);
      if (last === undefined || found.length < limit) return undefined;
      return scanFrom(scan, successor(last.key));
    },
  );
}

function entryOf(key: Uint8Array, { expires }: Pick<VisibilityEntry, "expires">): VisibilityEntry {
  const [, visibleAt, id] = visibilityIndex.parts(key);
  return { visibleAt: visibleAt as Ticks, id: messageIdOfBytes(id as Uint8Array), expires };
}

function loadMessages(
  view: RecordView,
  queue: bigint,
  entries: readonly VisibilityEntry[],
): Awaitable<readonly IdentifiedMessage[]> {
  return allAwaitable(
    entries.map(({ id }) =>
      mapAwaitable(view.get(messages, { queue, id }), (message) => {
        if (message !== undefined) return { id, message };
        throw new Error(`the visibility index of queue ${queue} names a missing message ${id}`);
      }),
    ),
  );
}

/** Returns the index entries of all messages of a queue, visible or not; undefined if there are
 *  more than `countMax`. Delete Queue removes the messages of a small queue itself. */
export async function readAllVisibility(
  view: RecordView,
  queue: bigint,
  countMax: number,
): Promise<readonly VisibilityEntry[] | undefined> {
  const entries: VisibilityEntry[] = [];
  const bounds = { ...visibilityIndex.range([queue]), limit: countMax + 1 };
  for await (const batch of view.scan(visibilityIndex, bounds)) {
    for (const { key, record } of batch) entries.push(entryOf(key, record));
  }
  return entries.length > countMax ? undefined : entries;
}

/** The effects (writes in the transaction of the operation) that add a message to a queue: record,
 *  index entries, count, and the reclaim job that removes it after its expiry. */
export function insertMessage(queue: bigint, id: string, message: MessageRecord): Effect[] {
  const { expires, visibleAt } = message;
  const effects = [
    put(messages, { queue, id }, message),
    put(visibilityIndex, { queue, visibleAt, id }, { expires }),
    add(messageCount.key(queue), 1n),
  ];
  if (expires === ticksMax) return effects;
  const sweep = periodJob(messages, { queue, id }, message);
  return [...effects, put(expiries, { queue, expires, id }, {}), ...sweep];
}

/** A message before and after a change of its visibility. */
interface MessageUpdate {
  readonly queue: bigint;
  readonly id: string;
  readonly from: MessageRecord;
  readonly to: MessageRecord;
}

/** The effects that store a changed message and move it in the visibility index. */
export function updateVisibility({ queue, id, from, to }: MessageUpdate): Effect[] {
  return [
    remove(visibilityIndex, { queue, visibleAt: from.visibleAt, id }),
    put(visibilityIndex, { queue, visibleAt: to.visibleAt, id }, { expires: to.expires }),
    put(messages, { queue, id }, to),
  ];
}

/** An entry of the visibility index, which has all that is needed to remove the message. */
interface VisibilityEntry {
  readonly id: string;
  readonly visibleAt: Ticks;
  readonly expires: Ticks;
}

/** The effects that remove a message from all tables and from the queue's message count. */
export function removeMessage(
  queue: bigint,
  { id, visibleAt, expires }: VisibilityEntry,
): Effect[] {
  const effects = [
    remove(messages, { queue, id }),
    remove(visibilityIndex, { queue, visibleAt, id }),
    add(messageCount.key(queue), -1n),
  ];
  return expires === ticksMax ? effects : [...effects, remove(expiries, { queue, expires, id })];
}
