import { encodeTaggedKey } from "../encoding/keys.ts";
import type { Metadata } from "../protocol/metadata.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import { recordCodec, withDecodeCache } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import { bytesOfMessageId } from "./message/message-id.ts";

export interface QueueRecord {
  /** What the messages inside are keyed by: clearing the queue gives it a new one. */
  readonly id: bigint;
  readonly metadata: Metadata;
  readonly policies: readonly StoredPolicy[];
}

/** A queue whose name is not free yet, because its messages are still being taken down. */
export interface DeletedQueueRecord {
  readonly id: bigint;
  /** The name is free from here on, however far the reclaiming is. */
  readonly until: Ticks;
}

export interface MessageRecord {
  readonly inserted: Ticks;
  /** `ticksMax` for a message that never expires. */
  readonly expires: Ticks;
  readonly visibleAt: Ticks;
  readonly dequeueCount: number;
  /** Counts gets and updates, so that two receipts for the same moment still differ. */
  readonly updateCount: number;
  readonly text: string;
}

/** Stands in the line of a queue. The expiry is repeated here, so that a get steps over expired
 *  messages without reading them. */
export interface VisibilityRecord {
  readonly expires: Ticks;
}

export interface MessageKey {
  readonly queue: bigint;
  readonly id: string;
}

export const queues = defineTable<{ account: bigint; name: string }, QueueRecord>({
  name: "queues",
  tag: 0x40,
  key: ({ account, name }) => [account, name],
  codec: withDecodeCache(recordCodec<QueueRecord>({ version: 1 })),
});

export const deletedQueues = defineTable<{ account: bigint; name: string }, DeletedQueueRecord>({
  name: "deleted-queues",
  tag: 0x41,
  key: ({ account, name }) => [account, name],
  codec: recordCodec<DeletedQueueRecord>({ version: 1 }),
});

/** Ids begin with the time of insertion, so that puts and gets work at the two ends of this table
 *  and cost the same however much lies between. */
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
});

/** The line of a queue: next visible first, of equals the one inserted first. */
export const visibilityIndex = defineTable<MessageKey & { visibleAt: Ticks }, VisibilityRecord>({
  name: "message-turns",
  tag: 0x43,
  key: ({ queue, visibleAt, id }) => [queue, visibleAt, bytesOfMessageId(id)],
  codec: recordCodec<VisibilityRecord>({
    version: 2,
    migrate: { 1: (record) => record },
    shape: { expires: true },
  }),
});

const emptyCodec = recordCodec<object>({ version: 1 });
const nothingMore = emptyCodec.encode({});

/** By the moment they expire, for the reclaiming; `visibleAt` is in the message. */
export const expiries = defineTable<MessageKey & { expires: Ticks }, object>({
  name: "message-expiries",
  tag: 0x44,
  key: ({ queue, expires, id }) => [queue, expires, bytesOfMessageId(id)],
  codec: { encode: () => nothingMore, decode: (bytes) => emptyCodec.decode(bytes) },
});

const messageCountTag = 0x45;

/** How many messages a queue holds, visible or not. */
export function messageCounter(queue: bigint): Uint8Array {
  return encodeTaggedKey(messageCountTag, [queue]);
}
