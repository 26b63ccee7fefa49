import type { Service, ReclaimHandler, Removal } from "../operation/service.ts";
import { operations } from "./operations.ts";
import {
  queueTables,
  deletedQueues,
  expiries,
  messageCount,
  messages,
  visibilityIndex,
} from "./records.ts";
import { identify, resources, signedName, type QueueAddress } from "./resources.ts";
import { anyTable } from "../encoding/table.ts";
import { removeOwned } from "../operation/owned-records.ts";
import { messageIdOfBytes } from "./message/message-id.ts";

/** The Queue service as `data` registers it, with its reclaim jobs: stored jobs that remove expired
 *  messages and those of deleted queues. */

/** Most messages that one transaction removes, because each has up to 64 KiB. */
const messageRemovalsMax = 250;

/** Removes the entries of all tables whose keys begin with the id of one queue. */
const removeMessages = removeOwned(queueTables.filter(({ owner }) => owner === "queue"));

/** Runs jobs that earlier releases have stored. They kept the name of a large deleted queue in
 *  `deletedQueues` until its messages were removed; this handler removes both. */
const reclaimQueue: ReclaimHandler = async (view, [account, name, id]) => {
  const step = await removeMessages(view, [id as bigint]);
  if (!step.done) return step;
  const key = { account: account as bigint, name: name as string };
  const deleted = await view.get(deletedQueues, key);
  if (deleted?.id !== id) return step;
  const deletedName = { table: anyTable(deletedQueues), key: deletedQueues.key(key) };
  return { removals: [...(step.removals ?? []), deletedName], done: true };
};

/** Removes expired messages, found by the expiry index. The message of an entry may be missing: the
 *  job that removes all entries of a deleted queue removes messages before their expiry entries. */
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
      removals.push({
        table: anyTable(visibilityIndex),
        key: visibilityIndex.key({ ...messageKey, visibleAt: message.visibleAt }),
      });
    }
  }
  const counts = count === 0n ? [] : [{ counter: messageCount.key(id), delta: -count }];
  return { removals, counts, done: scanned < messageRemovalsMax };
};

/** Handlers by the kind of job; `operation/reclaim.ts` runs the jobs in the background. */
const reclaimers: Readonly<Record<string, ReclaimHandler>> = {
  "queue-deleted": reclaimQueue,
  "queue-expired": reclaimExpired,
};

export const queueService: Service = {
  name: "queue",
  identify,
  signedName: (address) => signedName(address as QueueAddress),
  resources,
  operations,
  tables: queueTables,
  reclaimers,
};
