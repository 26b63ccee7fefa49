import { noETag } from "../../operation/operation.ts";
import { ticksFromSeconds, ticksMax, wholeSeconds, type Ticks } from "../../base/ticks.ts";
import { operation } from "../resources.ts";
import { messageBodyBytesMax, parseNewMessage, parseMessageUpdate } from "./message-body.ts";
import { insertMessage, updateVisibility, removeMessage } from "./message-effects.ts";
import { newMessageId, checkPopReceipt, popReceiptOf } from "./message-id.ts";
import {
  lifetime,
  neverExpires,
  defaultVisibilitySeconds,
  messageCount,
  getVisibilityTimeout,
  popReceipt,
  updateVisibilityTimeout,
} from "./message-params.ts";
import { renderPutResponse, renderGetResponse, renderPeekResponse } from "./message-xml.ts";
import { readQueueHead } from "./queue-head.ts";
import { formatHttpDate } from "../../base/dates.ts";
import { outOfRangeQuery } from "../../protocol/faults.ts";
import { reclaimOwned } from "../../operation/effects.ts";

/** learn.microsoft.com/rest/api/storageservices/put-message */
export const putMessage = operation({
  name: "Put Message",
  ids: ["Messages_Enqueue"],
  route: { method: "POST", resource: "messages" },
  since: "2009-09-19",
  params: { lifetime },
  body: { kind: "xml", bytesMax: messageBodyBytesMax, parse: parseNewMessage },
  permission: { letters: "a", resourceType: "o" },
  target: "must-exist",
  ...noETag,
  effect: "writes",
  success: { status: 201, headers: [] },
  decide: ({ target, input, now, newGuid }) => {
    const { visibilitySeconds, timeToLiveSeconds } = input.lifetime;
    const message = {
      inserted: now,
      expires: expiryOf(now, timeToLiveSeconds),
      visibleAt: now + ticksFromSeconds(visibilitySeconds),
      dequeueCount: 0,
      updateCount: 0,
      text: input.body,
    };
    const id = newMessageId(now, newGuid());
    return {
      body: renderPutResponse({ id, message }),
      effects: insertMessage(target.id, id, message),
    };
  },
});

function expiryOf(now: Ticks, timeToLiveSeconds: number): Ticks {
  const expires = now + ticksFromSeconds(timeToLiveSeconds);
  return timeToLiveSeconds === neverExpires || expires > ticksMax ? ticksMax : expires;
}

/** Returns the first visible messages and hides them for the visibility timeout. Also removes the
 *  expired messages that it had to skip.
 *  learn.microsoft.com/rest/api/storageservices/get-messages */
export const getMessages = operation({
  name: "Get Messages",
  ids: ["Messages_Dequeue"],
  route: { method: "GET", resource: "messages" },
  since: "2009-09-19",
  params: { count: messageCount, visibilitySeconds: getVisibilityTimeout },
  permission: { letters: "p", resourceType: "o" },
  target: "must-exist",
  ...noETag,
  effect: "writes",
  mayUseReserve: true,
  runInBatch: true,
  success: { status: 200, headers: ["Cache-Control"] },
  reads: (view, { target, input }) => readQueueHead(view, target.id, input.count ?? 1),
  decide: ({ target, input, readResult, now }) => {
    const visibleAt = now + ticksFromSeconds(input.visibilitySeconds ?? defaultVisibilitySeconds);
    const updates = readResult.visible.map(({ id, message }) => ({
      queue: target.id,
      id,
      from: message,
      to: {
        ...message,
        visibleAt,
        dequeueCount: message.dequeueCount + 1,
        updateCount: message.updateCount + 1,
      },
    }));
    return {
      headers: { "Cache-Control": "no-cache" },
      body: renderGetResponse(updates.map(({ id, to }) => ({ id, message: to }))),
      effects: [
        ...updates.flatMap(updateVisibility),
        ...readResult.expired.flatMap((entry) => removeMessage(target.id, entry)),
      ],
    };
  },
});

/** learn.microsoft.com/rest/api/storageservices/peek-messages */
export const peekMessages = operation({
  name: "Peek Messages",
  ids: ["Messages_Peek"],
  route: { method: "GET", resource: "messages", query: { peekonly: "true" } },
  since: "2009-09-19",
  params: { count: messageCount },
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  ...noETag,
  effect: "reads",
  success: { status: 200, headers: ["Cache-Control"] },
  reads: (view, { target, input }) => readQueueHead(view, target.id, input.count ?? 1),
  decide: ({ readResult }) => ({
    headers: { "Cache-Control": "no-cache" },
    body: renderPeekResponse(readResult.visible),
  }),
});

/** Changes when a message becomes visible again and, with a body, its text.
 *  learn.microsoft.com/rest/api/storageservices/update-message */
export const updateMessage = operation({
  name: "Update Message",
  ids: ["MessageId_Update"],
  route: { method: "PUT", resource: "message" },
  since: "2011-08-18",
  params: { popReceipt, visibilitySeconds: updateVisibilityTimeout },
  body: { kind: "xml", bytesMax: messageBodyBytesMax, parse: parseMessageUpdate },
  permission: { letters: "u", resourceType: "o" },
  target: "optional",
  ...noETag,
  effect: "writes",
  success: { status: 204, headers: ["x-ms-popreceipt", "x-ms-time-next-visible"] },
  decide: ({ target, scope, address, input, now }) => {
    const message = checkPopReceipt({ target, address }, input.popReceipt);
    if (!message.ok) return message;
    const from = message.value;
    const { visibilitySeconds } = input;
    const visibleAt = now + ticksFromSeconds(visibilitySeconds);
    if (visibleAt > from.expires) {
      const secondsLeft = wholeSeconds(from.expires - now);
      return outOfRangeQuery("visibilitytimeout", String(visibilitySeconds), 0, secondsLeft);
    }
    const text = input.body ?? from.text;
    const to = { ...from, visibleAt, text, updateCount: from.updateCount + 1 };
    return {
      headers: {
        "x-ms-popreceipt": popReceiptOf(to),
        "x-ms-time-next-visible": formatHttpDate(visibleAt),
      },
      effects: updateVisibility({ queue: scope.queue.id, id: address.message, from, to }),
    };
  },
});

/** Removes a message if the pop receipt is its latest one.
 *  learn.microsoft.com/rest/api/storageservices/delete-message2 */
export const deleteMessage = operation({
  name: "Delete Message",
  ids: ["MessageId_Delete"],
  route: { method: "DELETE", resource: "message" },
  since: "2009-09-19",
  params: { popReceipt },
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

/** Takes constant time: messages are keyed by the queue's id, so a new id empties the queue. A
 *  reclaim job removes the records under the old id.
 *  learn.microsoft.com/rest/api/storageservices/clear-messages */
export const clearMessages = operation({
  name: "Clear Messages",
  ids: ["Messages_Clear"],
  route: { method: "DELETE", resource: "messages" },
  since: "2009-09-19",
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
