import type { Metadata } from "../protocol/metadata.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import {
  anyTable,
  archivedRecord,
  defineCounter,
  defineTable,
  type AnyTable,
  recordCodec,
  withDecodeCache,
} from "../encoding/table.ts";
import { ticksMax, ticksPerSecond, type Ticks } from "../base/ticks.ts";
import { bytesOfMessageId, messageIdOfBytes } from "./message/message-id.ts";

/** The tables of the Queue service: queues, messages, and the indexes of messages. */

/** A queue of an account. */
export interface QueueRecord {
  /** Part of the keys of the queue's messages. Clear Messages assigns a new id, which makes all
   *  messages unreachable at once; a reclaim job, a stored background job, removes them. */
  readonly id: bigint;
  readonly metadata: Metadata;
  readonly policies: readonly StoredPolicy[];
}

/** Written by earlier releases only: a deleted queue whose messages are not yet removed. */
interface DeletedQueueRecord {
  readonly id: bigint;
  /** From this time a queue of the same name may be created, even if old messages are left. */
  readonly until: Ticks;
}

/** A message; its id is in the key. */
export interface MessageRecord {
  readonly inserted: Ticks;
  /** Time when the message expires; `ticksMax` if it never does. */
  readonly expires: Ticks;
  /** From this time Get Messages returns the message (again). */
  readonly visibleAt: Ticks;
  readonly dequeueCount: number;
  /** Number of gets and updates. A pop receipt contains it beside `visibleAt`, so that changes with
   *  equal `visibleAt` have different receipts. */
  readonly updateCount: number;
  readonly text: string;
}

/** An entry of the visibility index. Repeats the expiry time, so that Get Messages skips expired
 *  messages without reading them. */
interface VisibilityRecord {
  readonly expires: Ticks;
}

/** Key of a message: the id of its queue and its own id. */
interface MessageKey {
  readonly queue: bigint;
  readonly id: string;
}

export const queues = defineTable<{ account: bigint; name: string }, QueueRecord>({
  name: "queues",
  tag: 0x40,
  key: ({ account, name }) => [account, name],
  codec: withDecodeCache(recordCodec<QueueRecord>({ version: 1 })),
  owner: "account",
  ...archivedRecord,
  defines: { id: "queue" },
});

/** Queues that earlier releases deleted; see `reclaimQueue`. */
export const deletedQueues = defineTable<{ account: bigint; name: string }, DeletedQueueRecord>({
  name: "deleted-queues",
  tag: 0x41,
  key: ({ account, name }) => [account, name],
  codec: recordCodec<DeletedQueueRecord>({ version: 1 }),
  owner: "account",
  lifetime: "durable",
  role: "record",
  // Exists only until its messages are removed, and a deleted queue cannot be restored.
  isArchived: false,
  defines: { id: "queue" },
});

/** Messages of a queue that expire in the same minute share one reclaim job (a stored job that
 *  removes them): a job per message would be another write per message. */
const sweepTicks = 60n * ticksPerSecond;

/** When the reclaim job of a message with this expiry is due: at the end of the minute. */
function sweepAfter(expires: Ticks): Ticks {
  return expires - (expires % sweepTicks) + sweepTicks;
}

/** Number of messages in a queue, visible or not. Get Queue Metadata returns it as
 *  `x-ms-approximate-messages-count`. */
export const messageCount = defineCounter({
  name: "messages of queue",
  tag: 0x45,
  owner: "queue",
  isSum: true,
});

/** Messages by id. Ids begin with the insertion time, so Put Message writes at the end of the
 *  queue's range. Get Messages finds messages through the visibility index and reads them here. */
export const messages = defineTable<MessageKey, MessageRecord>({
  name: "messages",
  tag: 0x42,
  key: ({ queue, id }) => [queue, bytesOfMessageId(id)],
  codec: recordCodec<MessageRecord>({
    version: 2,
    migrate: { 1: (record) => record },
    shape: {
      inserted: true,
      expires: true,
      visibleAt: true,
      dequeueCount: true,
      updateCount: true,
      text: true,
    },
  }),
  owner: "queue",
  ...archivedRecord,
  relatedEntries: ({ visibleAt, expires }, [queue, id]) => {
    const key = { queue: queue as bigint, id: messageIdOfBytes(id as Uint8Array) };
    const visibility = { key: visibilityIndex.key({ ...key, visibleAt }) };
    const isKept = expires === ticksMax;
    return isKept ? [visibility] : [visibility, { key: expiries.key({ ...key, expires }) }];
  },
  counters: [{ counter: messageCount, of: () => 1n }],
  period: {
    jobKinds: ["queue-expired"],
    scopeOf: ([queue]) => [queue as bigint],
    ends: ({ expires }) => (expires === ticksMax ? undefined : sweepAfter(expires)),
  },
  // Records that one transaction of a reclaim job removes: fewer than usual (500), because each
  // message has up to 64 KiB.
  removalsMax: 250,
  countedBytes: ({ text }) => Buffer.byteLength(text),
});

/** The visibility index: messages by next-visible time, then by id, which begins with the insertion
 *  time. Get and Peek Messages read it from the start of a queue's range. */
export const visibilityIndex = defineTable<MessageKey & { visibleAt: Ticks }, VisibilityRecord>({
  name: "message-turns",
  tag: 0x43,
  key: ({ queue, visibleAt, id }) => [queue, visibleAt, bytesOfMessageId(id)],
  codec: recordCodec<VisibilityRecord>({
    version: 2,
    migrate: { 1: (record) => record },
    shape: { expires: true },
  }),
  owner: "queue",
  lifetime: "durable",
  role: "related",
  isArchived: true,
});

const emptyCodec = recordCodec<object>({ version: 1 });
const emptyRecord = emptyCodec.encode({});

/** Index of messages by expiry time, for the reclaim job. Its records are empty: the key identifies
 *  the message. */
export const expiries = defineTable<MessageKey & { expires: Ticks }, object>({
  name: "message-expiries",
  tag: 0x44,
  key: ({ queue, expires, id }) => [queue, expires, bytesOfMessageId(id)],
  codec: { encode: () => emptyRecord, decode: (bytes) => emptyCodec.decode(bytes) },
  owner: "queue",
  lifetime: "durable",
  role: "related",
  isArchived: true,
});

/** All tables of the Queue service. A reclaim job empties those of its owner in this order. */
export const queueTables: readonly AnyTable[] = [
  anyTable(queues),
  anyTable(deletedQueues),
  anyTable(messages),
  anyTable(visibilityIndex),
  anyTable(expiries),
];
