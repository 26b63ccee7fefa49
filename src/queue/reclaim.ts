import { nameReclaimers } from "../account/deleted-names.ts";
import type { ReclaimHandler, Removal } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";
import { firstBelowUpTo } from "../operation/first-below.ts";
import { messageIdOfBytes } from "./message/message-id.ts";
import {
  deletedQueues,
  expiries,
  messageCounter,
  messages,
  queues,
  visibilityIndex,
} from "./records.ts";

/** Small records removed in one transaction. */
const removalsMax = 1000;
/** Messages have up to 64 KiB. */
const messageRemovalsMax = 250;

const firstBelow = firstBelowUpTo(removalsMax);

/** Everything keyed by an id that no queue has any more. */
async function messagesBelow(view: RecordView, id: bigint) {
  const gone = await firstBelow(view, messages, id, messageRemovalsMax);
  if (gone.length > 0) return { removals: gone, done: false };
  const places = await firstBelow(view, visibilityIndex, id);
  if (places.length > 0) return { removals: places, done: false };
  const terms = await firstBelow(view, expiries, id);
  const isLast = terms.length < removalsMax;
  const removals = isLast ? [...terms, { key: messageCounter(id) }] : terms;
  return { removals, done: isLast };
}

const reclaimMessages: ReclaimHandler = (view, [queue]) => messagesBelow(view, queue as bigint);

/** A job of earlier releases, which kept the name of a large queue until its messages were gone. */
const reclaimQueue: ReclaimHandler = async (view, [account, name, id]) => {
  const step = await messagesBelow(view, id as bigint);
  if (!step.done) return step;
  const key = { account: account as bigint, name: name as string };
  const deleted = await view.get(deletedQueues, key);
  if (deleted?.id !== id) return step;
  const mark = { table: anyTable(deletedQueues), key: deletedQueues.key(key) };
  return { removals: [...step.removals, mark], done: true };
};

/** Messages nobody got in time. Those of a queue that was cleared or deleted meanwhile are gone,
 *  or about to go, by the job of that. */
const reclaimExpired: ReclaimHandler = async (view, [queue]) => {
  const id = queue as bigint;
  const end = expiries.prefix([id, view.now + 1n]);
  const bounds = { start: expiries.prefix([id]), end, limit: messageRemovalsMax };
  const removals: Removal[] = [];
  let count = 0n;
  let found = 0;
  for await (const batch of view.scan(expiries, bounds)) {
    for (const { key } of batch) {
      found += 1;
      removals.push({ table: anyTable(expiries), key });
      const messageKey = { queue: id, id: messageIdOfBytes(expiries.parts(key)[2] as Uint8Array) };
      const message = await view.get(messages, messageKey);
      if (message === undefined) continue;
      count += 1n;
      removals.push({ table: anyTable(messages), key: messages.key(messageKey) });
      removals.push(turnOf(messageKey, message.visibleAt));
    }
  }
  const counts = count === 0n ? [] : [{ counter: messageCounter(id), delta: -count }];
  return { removals, counts, done: found < messageRemovalsMax };
};

function turnOf(key: { queue: bigint; id: string }, visibleAt: Ticks): Removal {
  return { table: anyTable(visibilityIndex), key: visibilityIndex.key({ ...key, visibleAt }) };
}

const reclaimAccount: ReclaimHandler = async (view, [account]) => {
  const id = account as bigint;
  const live = await firstBelow(view, queues, id);
  const deleted = await firstBelow(view, deletedQueues, id);
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
