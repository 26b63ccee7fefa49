import { noETag } from "../../operation/operation.ts";
import { formatHttpDate } from "../../base/dates.ts";
import { outOfRangeQuery } from "../../protocol/faults.ts";
import { ticksFromSeconds, wholeSeconds } from "../../base/ticks.ts";
import { operation } from "../resources.ts";
import { messageBodyBytesMax, parseMessageUpdate } from "./message-body.ts";
import { updateVisibility } from "./message-effects.ts";
import { popReceipt, updateVisibilityTimeout } from "./message-params.ts";
import { checkPopReceipt, popReceiptOf } from "./pop-receipt.ts";

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
