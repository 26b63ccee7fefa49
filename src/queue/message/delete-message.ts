import { noBody, noETag } from "../../operation/operation.ts";
import { operation } from "../resources.ts";
import { removeMessage } from "./message-effects.ts";
import { popReceipt } from "./message-params.ts";
import { checkPopReceipt } from "./pop-receipt.ts";

/** Removes a message if the pop receipt is its latest one.
 *  learn.microsoft.com/rest/api/storageservices/delete-message2 */
export const deleteMessage = operation({
  name: "Delete Message",
  ids: ["MessageId_Delete"],
  route: { method: "DELETE", resource: "message" },
  since: "2009-09-19",
  params: { popReceipt },
  body: noBody,
  permission: { letters: "p", resourceType: "o" },
  // Not `must-exist`: a malformed pop receipt is reported before a missing message
  // (`checkPopReceipt`).
  target: "optional",
  ...noETag,
  effect: "writes",
  isDeletion: true,
  success: { status: 204, headers: [] },
  decide: ({ target, scope, address, input }) => {
    const message = checkPopReceipt({ target, address }, input.popReceipt);
    if (!message.ok) return message;
    return { effects: removeMessage(scope.queue.id, { ...message.value, id: address.message }) };
  },
});
