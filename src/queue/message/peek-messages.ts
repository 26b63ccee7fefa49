import { noBody, noETag } from "../../operation/operation.ts";
import { operation } from "../resources.ts";
import { readQueueHead } from "./queue-head.ts";
import { messageCount } from "./message-params.ts";
import { renderPeekResponse } from "./message-xml.ts";

/** learn.microsoft.com/rest/api/storageservices/peek-messages */
export const peekMessages = operation({
  name: "Peek Messages",
  ids: ["Messages_Peek"],
  route: { method: "GET", resource: "messages", query: { peekonly: "true" } },
  since: "2009-09-19",
  params: { count: messageCount },
  body: noBody,
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
