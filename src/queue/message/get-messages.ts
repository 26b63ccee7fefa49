import { noBody } from "../../core/operation.ts";
import { ticksFromSeconds } from "../../core/ticks.ts";
import { operation } from "../resources.ts";
import { headOfLine } from "./line.ts";
import { moveMessage, removeMessage } from "./message-effects.ts";
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
  inTurn: true,
  success: { status: 200, headers: ["Cache-Control"] },
  reads: (view, { target, input }) => headOfLine(view, target.id, input.count ?? 1),
  decide: ({ target, input, seen, now }) => {
    const visibleAt = now + ticksFromSeconds(input.visibilitySeconds ?? getVisibilitySeconds);
    const moves = seen.visible.map(({ id, message }) => ({
      queue: target.id,
      id,
      from: message,
      to: {
        ...message,
        visibleAt,
        dequeueCount: message.dequeueCount + 1,
        revision: message.revision + 1,
      },
    }));
    return {
      headers: { "Cache-Control": "no-cache" },
      body: getAnswer(moves.map(({ id, to }) => ({ id, message: to }))),
      effects: [
        ...moves.flatMap(moveMessage),
        ...seen.expired.flatMap((place) => removeMessage(target.id, place)),
      ],
    };
  },
});
