import { declareListing, scanNames } from "../../account/declare-listing.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, metadataElement, textElement } from "../../encoding/xml-writer.ts";
import { queues, messageCount } from "../records.ts";
import { metadata } from "../../operation/common-params.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { fail } from "../../protocol/result.ts";
import { queueDefaults, operation } from "../resources.ts";
import {
  accessPoliciesBytesMax,
  accessPoliciesWithin,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { reserveName } from "../../account/deleted-names.ts";
import { reclaimOwned } from "../../operation/effects.ts";
import { readAllVisibility, removeMessage } from "../message/stored-messages.ts";

/** The operations on queues: list, create, delete, metadata, access policies. */

/** Lists the queues of an account by pages, in order of their names.
 *  learn.microsoft.com/rest/api/storageservices/list-queues1 */
export const listQueues = declareListing({
  name: "List Queues",
  id: "Service_ListQueuesSegment",
  method: "GET",
  since: "2009-09-19",
  include: [],
  element: "Queues",
  noCache: true,
  scan: (view, account, bounds) =>
    scanNames(view, queues, account, bounds, ([, name], { metadata: pairs }) => ({
      name: name as string,
      pairs,
    })),
  render: ({ name, pairs }, _now, withMetadata) =>
    element("Queue", textElement("Name", name) + (withMetadata ? metadataElement(pairs) : "")),
  positionOf: ({ name }) => name,
});

/** Creates a queue, or succeeds with 204 if it exists with the same metadata.
 *  learn.microsoft.com/rest/api/storageservices/create-queue4 */
export const createQueue = operation({
  ...queueDefaults,
  name: "Create Queue",
  ids: ["Queue_Create"],
  route: { method: "PUT", resource: "queue" },
  params: { metadata },
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "may-exist",
  status: 201,
  decide: ({ target, input, newId }) => {
    if (target !== undefined) {
      return isSameMetadata(target.metadata, input.metadata)
        ? { status: 204 }
        : fail("QueueAlreadyExists");
    }
    return { put: { id: newId(), metadata: input.metadata, policies: [] } };
  },
});

function isSameMetadata(left: Metadata, right: Metadata): boolean {
  if (left.length !== right.length) return false;
  const values = new Map(left.map(([name, value]) => [name.toLowerCase(), value]));
  return right.every(([name, value]) => values.get(name.toLowerCase()) === value);
}

const query = { comp: "metadata" };

/** Returns metadata and message count, which includes messages that are invisible, or expired and
 *  not yet removed.
 *  learn.microsoft.com/rest/api/storageservices/get-queue-metadata */
export const getQueueMetadata = operation({
  ...queueDefaults,
  name: "Get Queue Metadata",
  ids: ["Queue_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "queue", query },
  permission: { letters: "r", resourceType: "c" },
  reads: (view, { target }) => view.count(messageCount.key(target.id)),
  decide: ({ target, readResult }) => ({
    metadata: target.metadata,
    headers: { "Cache-Control": "no-cache", "x-ms-approximate-messages-count": String(readResult) },
  }),
});

/** Replaces all metadata of a queue.
 *  learn.microsoft.com/rest/api/storageservices/set-queue-metadata */
export const setQueueMetadata = operation({
  ...queueDefaults,
  name: "Set Queue Metadata",
  ids: ["Queue_SetMetadata"],
  route: { method: "PUT", resource: "queue", query },
  params: { metadata },
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  status: 204,
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});

/** Parses the stored access policies of a queue; permissions are read, add, update, process. */
const parseQueuePolicies = accessPoliciesWithin("raup");

/** Returns the stored access policies (permissions that a SAS refers to by name) of a queue.
 *  learn.microsoft.com/rest/api/storageservices/get-queue-acl */
export const getQueueAcl = operation({
  ...queueDefaults,
  name: "Get Queue ACL",
  ids: ["Queue_GetAccessPolicy"],
  route: { method: ["GET", "HEAD"], resource: "queue", query: { comp: "acl" } },
  since: "2012-02-12",
  permission: { resourceType: "c", sas: "none" },
  decide: ({ target }) => ({
    headers: { "Cache-Control": "no-cache" },
    body: xmlBody(renderAccessPolicies(target.policies)),
  }),
});

/** Replaces all stored access policies of a queue.
 *  learn.microsoft.com/rest/api/storageservices/set-queue-acl */
export const setQueueAcl = operation({
  ...queueDefaults,
  name: "Set Queue ACL",
  ids: ["Queue_SetAccessPolicy"],
  route: { method: "PUT", resource: "queue", query: { comp: "acl" } },
  since: "2012-02-12",
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseQueuePolicies },
  permission: { resourceType: "c", sas: "none" },
  status: 204,
  decide: ({ target, input }) => ({ put: { ...target, policies: input.body } }),
});

/** A queue with at most this many messages is emptied in the transaction that deletes it, which
 *  must stay small. A reclaim job, a stored background job, removes the messages of others. */
const messagesRemovedAtOnceMax = 500;

/** The name can be used again at once, unless the account sets `deletedNameSeconds`: keys of
 *  messages begin with the id of their queue, so a new queue of the same name, which has another
 *  id, never shows messages that a reclaim job has yet to remove.
 *  learn.microsoft.com/rest/api/storageservices/delete-queue3 */
export const deleteQueue = operation({
  ...queueDefaults,
  name: "Delete Queue",
  ids: ["Queue_Delete"],
  route: { method: "DELETE", resource: "queue" },
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  isDeletion: true,
  status: 204,
  reads: (view, { target }) => readAllVisibility(view, target.id, messagesRemovedAtOnceMax),
  decide: ({ target, scope, address, features, readResult, now }) => {
    const removals = readResult?.flatMap((entry) => removeMessage(target.id, entry)) ?? [];
    const name = { account: scope.account.id, service: "queue", name: address.queue } as const;
    const reserved = reserveName(features, name, now);
    const effects = [...removals, reclaimOwned("queue", target.id), ...reserved];
    return { remove: true, effects };
  },
});
