import { describe, expect, it } from "vitest";
import { ticksMax, ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Effect } from "../operation/effects.ts";
import { decideOn, testNow, type TestRequest } from "../../tests/harness/decisions.ts";
import type { Operation } from "../operation/operation.ts";
import {
  clearMessages,
  deleteMessage,
  getMessages,
  putMessage,
  updateMessage,
} from "./message/messages.ts";
import { popReceiptOf } from "./message/message-id.ts";
import { messages, type MessageRecord } from "./records.ts";
import { resources } from "./resources.ts";

const second = ticksPerSecond;
const id = "11111111-1111-4111-8111-111111111111";
const queue = { id: 7n, metadata: [], policies: [] };
const account = { id: 1n, properties: {} };

/** Was got once, and stays hidden for 20 more seconds. */
const hidden: MessageRecord = {
  inserted: testNow - 100n * second,
  expires: testNow + 60n * second,
  visibleAt: testNow + 20n * second,
  dequeueCount: 1,
  updateCount: 1,
  text: "stored",
};
/** The same after its visibility timeout. */
const past: MessageRecord = { ...hidden, visibleAt: testNow - second };
const receipt = popReceiptOf(hidden);
const earlierReceipt = popReceiptOf({ ...hidden, updateCount: 0 });

interface Changed {
  readonly put: readonly MessageRecord[];
  readonly removed: number;
}

/** The code of the fault, or what the effects do to message records. */
function changesOf(reply: ReturnType<typeof decideOn>): string | Changed {
  if (typeof reply === "string") return reply;
  const ofMessages = (reply.effects ?? []).filter(
    (effect): effect is Extract<Effect, { effect: "put" | "remove" }> =>
      (effect.effect === "put" || effect.effect === "remove") &&
      effect.table.name === messages.name,
  );
  return {
    put: ofMessages.flatMap((one) => (one.effect === "put" ? [one.record as MessageRecord] : [])),
    removed: ofMessages.filter(({ effect }) => effect === "remove").length,
  };
}

interface Row {
  readonly case: string;
  readonly operation: Operation;
  readonly message: MessageRecord | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly address?: string;
  readonly expected: string | Changed;
}

const removed = { put: [], removed: 1 };
const put = (message: MessageRecord): Changed => ({ put: [message], removed: 0 });
const inSeconds = (seconds: bigint): Ticks => testNow + seconds * second;

/** learn.microsoft.com/rest/api/storageservices/delete-message2 and update-message. */
const rows: readonly Row[] = [
  {
    case: "its latest receipt",
    operation: deleteMessage,
    message: hidden,
    query: { popreceipt: receipt },
    expected: removed,
  },
  {
    case: "its latest receipt after the visibility timeout",
    operation: deleteMessage,
    message: past,
    query: { popreceipt: popReceiptOf(past) },
    expected: removed,
  },
  {
    case: "an earlier receipt",
    operation: deleteMessage,
    message: hidden,
    query: { popreceipt: earlierReceipt },
    expected: "PopReceiptMismatch",
  },
  {
    case: "a receipt for an absent message",
    operation: deleteMessage,
    message: undefined,
    query: { popreceipt: receipt },
    expected: "MessageNotFound",
  },
  {
    case: "a malformed receipt",
    operation: deleteMessage,
    message: hidden,
    query: { popreceipt: "no" },
    expected: "InvalidQueryParameterValue",
  },
  {
    case: "a malformed receipt for an absent message",
    operation: deleteMessage,
    message: undefined,
    query: { popreceipt: "no" },
    expected: "InvalidQueryParameterValue",
  },
  {
    case: "a malformed receipt for an id that is no GUID",
    operation: deleteMessage,
    message: undefined,
    address: "",
    query: { popreceipt: "no" },
    expected: "InvalidQueryParameterValue",
  },
  {
    case: "a receipt in Base64 for an id that is no GUID",
    operation: deleteMessage,
    message: undefined,
    address: "",
    query: { popreceipt: "bkotggobrtswewdlauhh" },
    expected: "MessageNotFound",
  },
  {
    case: "no receipt",
    operation: deleteMessage,
    message: hidden,
    query: {},
    expected: "MissingRequiredQueryParameter",
  },
  {
    case: "another visibility timeout and no body",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt, visibilitytimeout: "30" },
    expected: put({ ...hidden, visibleAt: inSeconds(30n), updateCount: 2 }),
  },
  {
    case: "a visibility timeout of 0, which shows the message at once",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt, visibilitytimeout: "0" },
    expected: put({ ...hidden, visibleAt: testNow, updateCount: 2 }),
  },
  {
    case: "a new text",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt, visibilitytimeout: "30" },
    body: "new",
    expected: put({ ...hidden, visibleAt: inSeconds(30n), updateCount: 2, text: "new" }),
  },
  {
    case: "a visibility timeout up to the expiry",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt, visibilitytimeout: "60" },
    expected: put({ ...hidden, visibleAt: inSeconds(60n), updateCount: 2 }),
  },
  {
    case: "a visibility timeout after the expiry",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt, visibilitytimeout: "61" },
    expected: "OutOfRangeQueryParameterValue",
  },
  {
    case: "a visibility timeout of more than seven days",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt, visibilitytimeout: "604801" },
    expected: "OutOfRangeQueryParameterValue",
  },
  {
    case: "no visibility timeout",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: receipt },
    expected: "MissingRequiredQueryParameter",
  },
  {
    case: "an earlier receipt",
    operation: updateMessage,
    message: hidden,
    query: { popreceipt: earlierReceipt, visibilitytimeout: "30" },
    expected: "PopReceiptMismatch",
  },
];

describe("operations on a message", () => {
  it.each(rows)("$operation.name with $case", (row) => {
    const address = { resource: "message", queue: "queue", message: row.address ?? id };
    const { message: resource } = resources;
    const state = { resource, scope: { account, queue }, address, target: row.message };
    const reply = decideOn(row.operation, state, { query: row.query, body: row.body });
    expect(changesOf(reply)).toEqual(row.expected);
  });
});

/** Decides on the queue. */
function onQueue(operation: Operation, request: TestRequest, readResult?: unknown) {
  const address = { resource: "messages", queue: "queue", message: "" };
  const state = { resource: resources.messages, scope: { account }, address, target: queue };
  return decideOn(operation, { ...state, readResult }, request);
}

/** learn.microsoft.com/rest/api/storageservices/put-message: when the message becomes visible and
 *  when it expires. */
const putRows = [
  { query: {}, visibleAt: testNow, expires: inSeconds(604_800n) },
  { query: { visibilitytimeout: "10" }, visibleAt: inSeconds(10n), expires: inSeconds(604_800n) },
  { query: { messagettl: "10" }, visibleAt: testNow, expires: inSeconds(10n) },
  { query: { messagettl: "-1" }, visibleAt: testNow, expires: ticksMax },
] as const;

const putFaults = [
  {
    query: { visibilitytimeout: "10", messagettl: "10" },
    expected: "InvalidQueryParameterValue",
  },
  { query: { visibilitytimeout: "-1" }, expected: "OutOfRangeQueryParameterValue" },
  { query: { visibilitytimeout: "soon" }, expected: "InvalidQueryParameterValue" },
  { query: { messagettl: "0" }, expected: "OutOfRangeQueryParameterValue" },
] as const;

describe("Put Message", () => {
  it.each(putRows)("with $query", ({ query, visibleAt, expires }) => {
    const reply = onQueue(putMessage, { query, body: "new" });
    const counts = { dequeueCount: 0, updateCount: 0 };
    const message = { inserted: testNow, expires, visibleAt, ...counts, text: "new" };
    expect(changesOf(reply)).toEqual(put(message));
  });

  it.each(putFaults)("rejects $query", ({ query, expected }) => {
    expect(onQueue(putMessage, { query, body: "new" })).toBe(expected);
  });
});

/** learn.microsoft.com/rest/api/storageservices/get-messages: how long the message is hidden. */
const getRows = [
  { query: {}, expected: inSeconds(30n) },
  { query: { visibilitytimeout: "1" }, expected: inSeconds(1n) },
  { query: { visibilitytimeout: "0" }, expected: "OutOfRangeQueryParameterValue" },
  { query: { numofmessages: "32" }, expected: inSeconds(30n) },
  { query: { numofmessages: "33" }, expected: "OutOfRangeQueryParameterValue" },
  { query: { numofmessages: "0" }, expected: "OutOfRangeQueryParameterValue" },
] as const;

describe("Get Messages", () => {
  const visible = { ...hidden, visibleAt: testNow - second };
  const expired = { id, visibleAt: testNow - 2n * second, expires: testNow - second };

  it.each(getRows)("with $query", ({ query, expected }) => {
    const head = { visible: [{ id, message: visible }], expired: [] };
    const changed = changesOf(onQueue(getMessages, { query }, head));
    if (typeof expected === "string") return expect(changed).toBe(expected);
    const counts = { dequeueCount: 2, updateCount: 2 };
    expect(changed).toEqual(put({ ...visible, visibleAt: expected, ...counts }));
  });

  it("removes the expired messages that it skipped", () => {
    const head = { visible: [], expired: [expired] };
    expect(changesOf(onQueue(getMessages, {}, head))).toEqual(removed);
  });
});

describe("Clear Messages", () => {
  it("gives the queue a new id, so that no message belongs to it", () => {
    expect(onQueue(clearMessages, {})).toMatchObject({ put: { ...queue, id: 99n } });
  });
});
