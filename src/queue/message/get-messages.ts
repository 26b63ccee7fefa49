import { noBody, noETag } from "../../operation/operation.ts";
import { ticksFromSeconds } from "../../base/ticks.ts";
import { operation } from "../resources.ts";
import { readQueueHead } from "./queue-head.ts";
import { updateVisibility, removeMessage } from "./message-effects.ts";
import { defaultVisibilitySeconds, messageCount, getVisibilityTimeout } from "./message-params.ts";
import { renderGetResponse } from "./message-xml.ts";

/** Returns the first visible messages and hides them for the visibility timeout. Also removes the
 *  expired messages that it had to skip.
 *  learn.microsoft.com/rest/api/storageservices/get-messages */
export const getMessages = operation({
  name: "Get Messages",
  ids: ["Messages_Dequeue"],
  route: { method: "GET", resource: "messages" },
  since: "2009-09-19",
  params: { count: messageCount, visibilitySeconds: getVisibilityTimeout },
  body: noBody,
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
