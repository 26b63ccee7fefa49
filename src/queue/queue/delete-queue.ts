import { reserveName } from "../../account/deleted-names.ts";
import { reclaimOwned } from "../../operation/effects.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { readAllVisibility } from "../message/queue-head.ts";
import { removeMessage } from "../message/message-effects.ts";
import { operation } from "../resources.ts";

/** A queue with at most this many messages is emptied in the transaction that deletes it; the
 *  messages of a larger one are removed by a reclaim job. */
const messagesRemovedAtOnceMax = 500;

/** The name can be used again at once, unless the account sets `deletedNameSeconds`: messages are
 *  keyed by the id of their queue, so a new queue never shows those that a job has yet to remove.
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
  ...noETag,
  effect: "writes",
  isDeletion: true,
  success: { status: 204, headers: [] },
  reads: (view, { target }) => readAllVisibility(view, target.id, messagesRemovedAtOnceMax),
  decide: ({ target, scope, address, features, readResult, now }) => {
    const removals = readResult?.flatMap((entry) => removeMessage(target.id, entry)) ?? [];
    const name = { account: scope.account.id, service: "queue", name: address.queue } as const;
    const reserved = reserveName(features, name, now);
    const effects = [...removals, reclaimOwned("queue", target.id), ...reserved];
    return { remove: true, effects };
  },
});
