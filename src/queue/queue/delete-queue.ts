import { keepName } from "../../account/deleted-names.ts";
import { reclaim } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { readAllVisibility } from "../message/queue-head.ts";
import { removeMessage } from "../message/message-effects.ts";
import { operation } from "../resources.ts";

/** The messages of a queue with no more than this are removed at once. */
const messagesRemovedAtOnceMax = 500;

/** The name is free at once: messages are keyed by the id of their queue, so that those of a large
 *  one, which are removed later, never show in a new one.
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
  reads: (view, { target }) => readAllVisibility(view, target.id, messagesRemovedAtOnceMax),
  decide: ({ target, scope, address, features, readResult, now }) => {
    const removals = readResult?.flatMap((place) => removeMessage(target.id, place)) ?? [];
    const name = { account: scope.account.id, service: "queue", name: address.queue } as const;
    const kept = keepName(features, name, now);
    const effects = [...removals, reclaim("queue-messages", target.id), ...kept];
    return { remove: true, effects };
  },
});
