import { put, reclaim } from "../../core/effects.ts";
import { noBody } from "../../core/operation.ts";
import { ticksPerSecond } from "../../core/ticks.ts";
import { wholeLine } from "../message/line.ts";
import { removeMessage } from "../message/message-effects.ts";
import { deletedQueues } from "../records.ts";
import { operation } from "../resources.ts";

/** A queue of so few messages is taken down at once, and its name is free at once. */
const messagesRemovedAtOnceMax = 500;
/** After this long the name of a larger one is free, too. */
const beingDeletedTicksMax = 30n * ticksPerSecond;

/** Nobody sees it any more. While many messages are taken down, the name is not free yet.
 *  learn.microsoft.com/rest/api/storageservices/delete-queue3 */
export const deleteQueue = operation({
  name: "Delete Queue",
  ids: ["Queue_Delete"],
  route: { method: "DELETE", resource: "queue" },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  success: { status: 204, headers: [] },
  reads: (view, { target }) => wholeLine(view, target.id, messagesRemovedAtOnceMax),
  decide: ({ target, scope, address, seen, now }) => {
    if (seen !== undefined) {
      const removals = seen.flatMap((place) => removeMessage(target.id, place));
      return { remove: true, effects: [...removals, reclaim("queue-messages", target.id)] };
    }
    const key = { account: scope.account.id, name: address.queue };
    const mark = { id: target.id, until: now + beingDeletedTicksMax };
    const job = reclaim("queue-deleted", key.account, key.name, target.id);
    return { remove: true, effects: [put(deletedQueues, key, mark), job] };
  },
});
