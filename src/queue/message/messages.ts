import type { XmlParser } from "../../operation/operation.ts";
import { ticksFromSeconds, ticksMax, wholeSeconds, type Ticks } from "../../base/ticks.ts";
import { queueDefaults, operation } from "../resources.ts";
import {
  insertMessage,
  updateVisibility,
  removeMessage,
  readQueueHead,
} from "./stored-messages.ts";
import { newMessageId, checkPopReceipt, popReceiptOf } from "./message-id.ts";
import { renderPutResponse, renderGetResponse, renderPeekResponse } from "./message-xml.ts";
import { formatHttpDate } from "../../base/dates.ts";
import {
  outOfRangeQuery,
  bodyTooLarge,
  invalidXml,
  missingXmlNode,
  invalidQuery,
} from "../../protocol/faults.ts";
import { reclaimOwned } from "../../operation/effects.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { query, required, text, type Param, type ParamReader } from "../../protocol/params.ts";
import { isAtLeast } from "../../protocol/versions.ts";

/** The operations on messages: Put, Get, Peek, Update, Delete, Clear, and their parameters. Get
 *  Messages is the operation that concurrent consumers run: it hides what it returns in the same
 *  transaction, so that no two of them get one message. */

const daySeconds = 86_400;
const weekSeconds = 7 * daySeconds;
/** Azure's limit of `visibilitytimeout` of Get Messages in versions before 2011-08-18. */
const oldVisibilitySecondsMax = 7200;
const int32Max = 2_147_483_647;

/** Azure's limit of `numofmessages`: messages that one Get or Peek Messages returns. */
const messagesPerGetMax = 32;
/** Visibility timeout of messages that Get Messages returns if the request has none. */
const defaultVisibilitySeconds = 30;
/** Value of `messagettl` for a message that never expires. */
const neverExpires = -1;

interface NumberRange {
  readonly min: number;
  readonly max: number;
}

/** Declares a query parameter with a 32-bit number, in a range that depends on the x-ms-version. As
 *  in Azure, the fault for a number out of range names the range. */
function boundedNumber(
  name: string,
  rangeAt: (version: string) => NumberRange,
): Param<number | undefined> {
  return {
    sources: [`?${name}`],
    parse: (reader) => {
      const given = reader.query(name);
      if (given === undefined || given === "") return ok(undefined);
      const value = parseInt32(given);
      if (value === undefined) return invalidQuery(name, given);
      const { min, max } = rangeAt(reader.version);
      return value < min || value > max ? outOfRangeQuery(name, given, min, max) : ok(value);
    },
  };
}

function parseInt32(given: string): number | undefined {
  if (!/^-?\d{1,10}$/.test(given)) return undefined;
  const value = Number(given);
  return Math.abs(value) > int32Max ? undefined : value;
}

/** `numofmessages` of Get Messages and Peek Messages. */
export const messageCount = boundedNumber("numofmessages", () => ({
  min: 1,
  max: messagesPerGetMax,
}));

/** `visibilitytimeout` of Get Messages: how long messages that it returns are invisible. */
export const getVisibilityTimeout = boundedNumber("visibilitytimeout", (version) => ({
  min: 1,
  max: isAtLeast(version, "2011-08-18") ? weekSeconds : oldVisibilitySecondsMax,
}));

const visibilityTimeout = boundedNumber("visibilitytimeout", () => ({ min: 0, max: weekSeconds }));

/** `visibilitytimeout` of Update Message, which the request must have. */
export const updateVisibilityTimeout = required(visibilityTimeout);

export const popReceipt = required(query("popreceipt", text));

interface Lifetime {
  readonly visibilitySeconds: number;
  readonly timeToLiveSeconds: number;
}

/** The visibility timeout and the time to live of Put Message. The latter must be longer: the
 *  message would otherwise expire before it becomes visible. */
export const lifetime: Param<Lifetime> = {
  sources: ["?visibilitytimeout", "?messagettl"],
  parse: (reader) => {
    const visibility = visibilityTimeout.parse(reader);
    if (!visibility.ok) return visibility;
    const life = parseTimeToLive(reader);
    if (!life.ok) return life;
    const visibilitySeconds = visibility.value ?? 0;
    const timeToLiveSeconds = life.value;
    if (timeToLiveSeconds !== neverExpires && visibilitySeconds >= timeToLiveSeconds) {
      const reason = "messagettl must be greater than visibilitytimeout";
      return invalidQuery("visibilitytimeout", String(visibilitySeconds), reason);
    }
    return ok({ visibilitySeconds, timeToLiveSeconds });
  },
};

const timeToLive = boundedNumber("messagettl", (version) => ({
  min: 1,
  max: allowsAnyTimeToLive(version) ? int32Max : weekSeconds,
}));

function allowsAnyTimeToLive(version: string): boolean {
  return isAtLeast(version, "2017-07-29");
}

function parseTimeToLive(reader: ParamReader): Result<number> {
  const isUnlimited = reader.query("messagettl") === String(neverExpires);
  if (isUnlimited && allowsAnyTimeToLive(reader.version)) return ok(neverExpires);
  const life = timeToLive.parse(reader);
  return life.ok ? ok(life.value ?? weekSeconds) : life;
}

/** Azure's limit of a message text, in bytes of UTF-8. */
const messageBytesMax = 64 * 1024;
/** Bytes of XML per byte of text, at most; `&#x0026;` has 8. Longer bodies get 413. */
const escapeFactorMax = 8;
const messageBodyBytesMax = escapeFactorMax * messageBytesMax;

/** Returns the text in a body of Put or Update Message. It is stored unchanged: client libraries
 *  encode and decode Base64 themselves. */
function parseMessage(root: XmlElement): Result<string> {
  if (root.name !== "QueueMessage") {
    return invalidXml(root.start.line, root.start.position, "");
  }
  const message = xmlChildText(root, "MessageText");
  if (message === undefined) return missingXmlNode("MessageText");
  return Buffer.byteLength(message) > messageBytesMax ? bodyTooLarge(messageBytesMax) : ok(message);
}

const parseNewMessage: XmlParser<string> = (root) =>
  root === undefined ? invalidXml(0, 0, "Root element is missing.") : parseMessage(root);

/** Parses the body of Update Message; undefined without a body: the message keeps its text. */
const parseMessageUpdate: XmlParser<string | undefined> = (root) =>
  root === undefined ? ok(undefined) : parseMessage(root);

/** Adds a message to a queue. learn.microsoft.com/rest/api/storageservices/put-message */
export const putMessage = operation({
  ...queueDefaults,
  name: "Put Message",
  ids: ["Messages_Enqueue"],
  route: { method: "POST", resource: "messages" },
  params: { lifetime },
  body: { kind: "xml", bytesMax: messageBodyBytesMax, parse: parseNewMessage },
  permission: { letters: "a", resourceType: "o" },
  status: 201,
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

/** When a new message expires; `ticksMax` for never, or for a time that ticks cannot express. */
function expiryOf(now: Ticks, timeToLiveSeconds: number): Ticks {
  const expires = now + ticksFromSeconds(timeToLiveSeconds);
  return timeToLiveSeconds === neverExpires || expires > ticksMax ? ticksMax : expires;
}

/** Returns the first visible messages and hides them for the visibility timeout. Also removes
 *  expired messages that precede them, so that the next request need not skip them again.
 *  learn.microsoft.com/rest/api/storageservices/get-messages */
export const getMessages = operation({
  ...queueDefaults,
  name: "Get Messages",
  ids: ["Messages_Dequeue"],
  route: { method: "GET", resource: "messages" },
  params: { count: messageCount, visibilitySeconds: getVisibilityTimeout },
  permission: { letters: "p", resourceType: "o" },
  effect: "writes",
  mayUseReserve: true,
  runInBatch: true,
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

/** Returns the first visible messages without hiding them.
 *  learn.microsoft.com/rest/api/storageservices/peek-messages */
export const peekMessages = operation({
  ...queueDefaults,
  name: "Peek Messages",
  ids: ["Messages_Peek"],
  route: { method: "GET", resource: "messages", query: { peekonly: "true" } },
  params: { count: messageCount },
  permission: { letters: "r", resourceType: "o" },
  reads: (view, { target, input }) => readQueueHead(view, target.id, input.count ?? 1),
  decide: ({ readResult }) => ({
    headers: { "Cache-Control": "no-cache" },
    body: renderPeekResponse(readResult.visible),
  }),
});

/** Changes when a message becomes visible again and, with a body, its text.
 *  learn.microsoft.com/rest/api/storageservices/update-message */
export const updateMessage = operation({
  ...queueDefaults,
  name: "Update Message",
  ids: ["MessageId_Update"],
  route: { method: "PUT", resource: "message" },
  since: "2011-08-18",
  params: { popReceipt, visibilitySeconds: updateVisibilityTimeout },
  body: { kind: "xml", bytesMax: messageBodyBytesMax, parse: parseMessageUpdate },
  permission: { letters: "u", resourceType: "o" },
  target: "optional",
  status: 204,
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
    const to = {
      ...from,
      visibleAt,
      text: input.body ?? from.text,
      updateCount: from.updateCount + 1,
    };
    return {
      headers: {
        "x-ms-popreceipt": popReceiptOf(to),
        "x-ms-time-next-visible": formatHttpDate(visibleAt),
      },
      effects: updateVisibility({ queue: scope.queue.id, id: address.message, from, to }),
    };
  },
});

/** Removes a message if the pop receipt is its latest one.
 *  learn.microsoft.com/rest/api/storageservices/delete-message2 */
export const deleteMessage = operation({
  ...queueDefaults,
  name: "Delete Message",
  ids: ["MessageId_Delete"],
  route: { method: "DELETE", resource: "message" },
  params: { popReceipt },
  permission: { letters: "p", resourceType: "o" },
  // `must-exist` would report a missing message first, but a malformed pop receipt takes precedence
  // (`checkPopReceipt`).
  target: "optional",
  isDeletion: true,
  status: 204,
  decide: ({ target, scope, address, input }) => {
    const message = checkPopReceipt({ target, address }, input.popReceipt);
    if (!message.ok) return message;
    return { effects: removeMessage(scope.queue.id, { ...message.value, id: address.message }) };
  },
});

/** Removes all messages in constant time: their keys begin with the queue's id, so a new id empties
 *  the queue. A reclaim job, a stored background job, removes the records under the old id.
 *  learn.microsoft.com/rest/api/storageservices/clear-messages */
export const clearMessages = operation({
  ...queueDefaults,
  name: "Clear Messages",
  ids: ["Messages_Clear"],
  route: { method: "DELETE", resource: "messages" },
  permission: { letters: "d", resourceType: "o", sas: "account-only" },
  isDeletion: true,
  status: 204,
  decide: ({ target, newId }) => ({
    put: { ...target, id: newId() },
    effects: [reclaimOwned("queue", target.id)],
  }),
});
