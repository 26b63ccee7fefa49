import type { AccountRecord, AccountScope } from "../account/account-record.ts";
import {
  corsRulesFor,
  loadAccount,
  namedResource,
  serviceResource,
} from "../account/service-resource.ts";
import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { checkResourceName } from "../protocol/names.ts";
import { noETag, operationsOf, type Address } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { defineResource } from "../operation/service.ts";
import type { LoadedResource, SignedName, LoadRequest } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import { parseGuid } from "../protocol/guid.ts";
import { messages, queues, type MessageRecord, type QueueRecord } from "./records.ts";

/** What URLs of the Queue service address, and how the records are loaded that an operation
 *  needs. */

/** What `identify` finds in the path of a URL. */
export interface QueueAddress extends Address {
  readonly resource: "service" | "queue" | "messages" | "message";
  /** Name of the queue; empty for the service. */
  readonly queue: string;
  /** The message id in lower case. Empty without an id, or if it is no GUID, as all ids are. */
  readonly message: string;
}

interface QueueScope extends AccountScope {
  readonly queue: QueueRecord;
}

/** The types of scope (parent records) and target (addressed record) of each resource. */
interface QueueResources {
  readonly [name: string]: { scope: object; target: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
  readonly queue: { scope: AccountScope; target: QueueRecord };
  /** All messages of a queue; the target is the queue's record. */
  readonly messages: { scope: AccountScope; target: QueueRecord };
  readonly message: { scope: QueueScope; target: MessageRecord };
}

/** Declares an operation of this service; 2009-09-19 is the first x-ms-version of most of them. */
export const operation = operationsOf<QueueResources, QueueAddress>("2009-09-19");

/** Declared by most operations of this service. Queues and messages have no ETags and no leases. */
export const queueDefaults = { target: "must-exist", ...noETag } as const;

const messagesSegment = "messages";

/** Finds what a URL path addresses: `/`, `/queue`, `/queue/messages` or `/queue/messages/id`. */
export function identify(path: string): Result<QueueAddress> {
  const [queue = "", segment = "", message = "", ...rest] = path.replace(/\/$/, "").split("/");
  if (queue === "" && segment === "") return ok({ resource: "service", queue, message });
  const named = checkResourceName(queue);
  if (!named.ok) return named;
  if (segment === "") return ok({ resource: "queue", queue, message });
  if (segment.toLowerCase() !== messagesSegment || rest.length > 0) return fail("InvalidUri");
  if (message === "") return ok({ resource: "messages", queue, message });
  return ok({ resource: "message", queue, message: parseGuid(message) ?? "" });
}

/** The name in a SAS: of the queue, also for a message. */
export function signedName({ queue }: QueueAddress): SignedName {
  return { name: queue || undefined };
}

function findQueue(
  view: RecordView,
  { id }: AccountRecord,
  { address }: LoadRequest<QueueAddress>,
): Awaitable<QueueRecord | undefined> {
  return view.get(queues, { account: id, name: address.queue });
}

function loadMessage(
  view: RecordView,
  request: LoadRequest<QueueAddress>,
): Awaitable<LoadedResource> {
  const { message: id } = request.address;
  return mapAwaitable(loadAccount(view, request), (account) =>
    mapAwaitable(findQueue(view, account, request), (queue) => {
      const cors = corsOf(account);
      if (queue === undefined) {
        return { access: undefined, scope: fail("QueueNotFound"), target: undefined, cors };
      }
      const access = { policies: queue.policies };
      const found = id === "" ? undefined : view.get(messages, { queue: queue.id, id });
      return mapAwaitable(found, (message) => {
        const target = message !== undefined && message.expires > view.now ? message : undefined;
        return { access, scope: ok({ account, queue }), target, cors };
      });
    }),
  );
}

const corsOf = corsRulesFor("queue");

const service = serviceResource("queue");

const queue = namedResource<QueueAddress>({
  service: "queue",
  nameOf: (address) => address.queue,
  find: (view, key) => view.get(queues, key),
  table: anyTable(queues),
  missing: "QueueNotFound",
  present: "QueueAlreadyExists",
  reserved: "QueueBeingDeleted",
  leaseKind: "container",
});

/** A message. It declares neither table nor key: a message has entries in several tables, which the
 *  operations write themselves, as effects (`queue/message/stored-messages.ts`). */
const message = defineResource<QueueAddress>({
  load: loadMessage,
  table: undefined,
  keyOf: () => undefined,
  missing: "MessageNotFound",
  present: "ResourceAlreadyExists",
  leaseKind: "container",
});

export const resources = { service, queue, messages: queue, message };
