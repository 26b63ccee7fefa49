import { reclaimOwned } from "../../operation/effects.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { operation } from "../resources.ts";

/** Takes constant time: messages are keyed by the queue's id, so a new id empties the queue. A
 *  reclaim job removes the records under the old id.
 *  learn.microsoft.com/rest/api/storageservices/clear-messages */
export const clearMessages = operation({
  name: "Clear Messages",
  ids: ["Messages_Clear"],
  route: { method: "DELETE", resource: "messages" },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "d", resourceType: "o", sas: "account-only" },
  target: "must-exist",
  ...noETag,
  effect: "writes",
  isDeletion: true,
  success: { status: 204, headers: [] },
  decide: ({ target, newId }) => ({
    put: { ...target, id: newId() },
    effects: [reclaimOwned("queue", target.id)],
  }),
});
