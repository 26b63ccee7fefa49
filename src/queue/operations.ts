import { declareServiceProperties } from "../account/declare-service-properties.ts";
import { declarePreflight } from "../account/service-resource.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import { clearMessages } from "./message/clear-messages.ts";
import { deleteMessage } from "./message/delete-message.ts";
import { getMessages } from "./message/get-messages.ts";
import { peekMessages } from "./message/peek-messages.ts";
import { putMessage } from "./message/put-message.ts";
import { updateMessage } from "./message/update-message.ts";
import { createQueue } from "./queue/create-queue.ts";
import { deleteQueue } from "./queue/delete-queue.ts";
import { getQueueAcl, setQueueAcl } from "./queue/queue-acl.ts";
import { getQueueMetadata, setQueueMetadata } from "./queue/queue-metadata.ts";
import { listQueues } from "./service/list-queues.ts";

/** All operations of the Queue service. The order matters only between routes with equally many
 *  requirements: the first that matches is used. */
export const operations: readonly Operation[] = [
  ...declareServiceProperties("queue"),
  declareUserDelegationKey("queue", { since: "2026-02-06" }),
  declarePreflight("queue", "Preflight Queue Request"),
  listQueues,
  createQueue,
  deleteQueue,
  getQueueMetadata,
  setQueueMetadata,
  getQueueAcl,
  setQueueAcl,
  putMessage,
  getMessages,
  peekMessages,
  updateMessage,
  deleteMessage,
  clearMessages,
];
