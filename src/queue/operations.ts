import { declareServiceProperties } from "../account/declare-service-properties.ts";
import { declarePreflight } from "../account/service-resource.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import {
  clearMessages,
  deleteMessage,
  getMessages,
  peekMessages,
  putMessage,
  updateMessage,
} from "./message/messages.ts";
import {
  createQueue,
  deleteQueue,
  getQueueAcl,
  setQueueAcl,
  getQueueMetadata,
  setQueueMetadata,
  listQueues,
} from "./queue/queues.ts";

/** All operations of the Queue service; `service.ts` passes them to `http`, which compiles their
 *  routes. The order matters only between routes with equally many requirements: the first that
 *  matches is used. */
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
