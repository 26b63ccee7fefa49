import { noETag } from "../../operation/operation.ts";
import { ticksFromSeconds, ticksMax, type Ticks } from "../../base/ticks.ts";
import { operation } from "../resources.ts";
import { messageBodyBytesMax, parseNewMessage } from "./message-body.ts";
import { insertMessage } from "./message-effects.ts";
import { newMessageId } from "./message-id.ts";
import { lifetime, neverExpires } from "./message-params.ts";
import { renderPutResponse } from "./message-xml.ts";

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
