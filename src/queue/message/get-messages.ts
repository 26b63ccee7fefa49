import { noBody } from "../../operation/operation.ts";
import { ticksFromSeconds } from "../../base/ticks.ts";
import { operation } from "../resources.ts";
import { readQueueHead } from "./queue-head.ts";
import { updateVisibility, removeMessage } from "./message-effects.ts";
import { getVisibilitySeconds, messageCount, visibilityOfGet } from "./message-params.ts";
import { getAnswer } from "./message-xml.ts";

/** Hides what it hands out for a while, from everyone.
 *  learn.microsoft.com/rest/api/storageservices/get-messages */
export const getMessages = operation({
  name: "Get Messages",
  ids: ["Messages_Dequeue"],
  route: { method: "GET", resource: "messages" },
  since: "2009-09-19",
  params: { count: messageCount, visibilitySeconds: visibilityOfGet },
  body: noBody,
  permission: { letters: "p", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  runInBatch: true,
  success: { status: 200, headers: ["Cache-Control"] },
  reads: (view, { target, input }) => readQueueHead(view, target.id, input.count ?? 1),
  decide: ({ target, input, readResult, now }) => {
    const visibleAt = now + ticksFromSeconds(input.visibilitySeconds ?? getVisibilitySeconds);
    const moves = readResult.visible.map(({ id, message }) => ({
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
      body: getAnswer(moves.map(({ id, to }) => ({ id, message: to }))),
      effects: [
        ...moves.flatMap(updateVisibility),
        ...readResult.expired.flatMap((place) => removeMessage(target.id, place)),
      ],
    };
  },
});
