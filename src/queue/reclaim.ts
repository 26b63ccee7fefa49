import { nameReclaimers } from "../account/deleted-names.ts";
import type { ReclaimHandler, Removal } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";
import { removalFinder } from "../operation/find-removals.ts";
import { messageIdOfBytes } from "./message/message-id.ts";
import {
  deletedQueues,
  expiries,
  messageCounter,
  messages,
  queues,
  visibilityIndex,
} from "./records.ts";

/** Most index entries removed in one transaction. */
const removalsMax = 1000;
/** Most messages removed in one transaction: fewer, because each has up to 64 KiB. */
const messageRemovalsMax = 250;

const findRemovals = removalFinder(removalsMax);

/** Removes all records under the id of a queue that was deleted or cleared. */
async function reclaimMessagesOf(view: RecordView, id: bigint) {
  const firstMessages = await findRemovals(view, messages, id, messageRemovalsMax);
  if (firstMessages.length > 0) return { removals: firstMessages, done: false };
  const visibilityEntries = await findRemovals(view, visibilityIndex, id);
  if (visibilityEntries.length > 0) return { removals: visibilityEntries, done: false };
  const expiryEntries = await findRemovals(view, expiries, id);
  const isLast = expiryEntries.length < removalsMax;
  const removals = isLast ? [...expiryEntries, { key: messageCounter(id) }] : expiryEntries;
  return { removals, done: isLast };
}

const reclaimMessages: ReclaimHandler = (view, [queue]) => reclaimMessagesOf(view, queue as bigint);

/** Handles jobs that earlier releases stored. Those releases kept the name of a large deleted queue
 *  until its messages were removed. */
const reclaimQueue: ReclaimHandler = async (view, [account, name, id]) => {
  const step = await reclaimMessagesOf(view, id as bigint);
  if (!step.done) return step;
  const key = { account: account as bigint, name: name as string };
  const deleted = await view.get(deletedQueues, key);
  if (deleted?.id !== id) return step;
  const deletedName = { table: anyTable(deletedQueues), key: deletedQueues.key(key) };
  return { removals: [...step.removals, deletedName], done: true };
};

/** Removes expired messages. The message of an expiry entry may be missing: the job
 *  "queue-messages" removes messages before their expiry entries. */
const reclaimExpired: ReclaimHandler = async (view, [queue]) => {
  const id = queue as bigint;
  const end = expiries.prefix([id, view.now + 1n]);
  const bounds = { start: expiries.prefix([id]), end, limit: messageRemovalsMax };
  const removals: Removal[] = [];
  let count = 0n;
  let scanned = 0;
  for await (const batch of view.scan(expiries, bounds)) {
    for (const { key } of batch) {
      scanned += 1;
      removals.push({ table: anyTable(expiries), key });
      const messageKey = { queue: id, id: messageIdOfBytes(expiries.parts(key)[2] as Uint8Array) };
      const message = await view.get(messages, messageKey);
      if (message === undefined) continue;
      count += 1n;
      removals.push({ table: anyTable(messages), key: messages.key(messageKey) });
      removals.push(visibilityRemoval(messageKey, message.visibleAt));
    }
  }
  const counts = count === 0n ? [] : [{ counter: messageCounter(id), delta: -count }];
  return { removals, counts, done: scanned < messageRemovalsMax };
};

function visibilityRemoval(key: { queue: bigint; id: string }, visibleAt: Ticks): Removal {
  return { table: anyTable(visibilityIndex), key: visibilityIndex.key({ ...key, visibleAt }) };
}

const reclaimAccount: ReclaimHandler = async (view, [account]) => {
  const id = account as bigint;
  const live = await findRemovals(view, queues, id);
  const deleted = await findRemovals(view, deletedQueues, id);
  const jobs = live.map(({ record }) => ({ kind: "queue-messages", scope: [record.id] }));
  const removals = [...live, ...deleted];
  return { removals, jobs, done: removals.length === 0 };
};

export const reclaimers: Readonly<Record<string, ReclaimHandler>> = {
  ...nameReclaimers("queue"),
  "queue-account": reclaimAccount,
  "queue-deleted": reclaimQueue,
  "queue-expired": reclaimExpired,
  "queue-messages": reclaimMessages,
};
