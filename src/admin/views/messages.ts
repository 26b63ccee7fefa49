import { accounts } from "../../account/account-record.ts";
import { formatIso } from "../../base/dates.ts";
import { successor } from "../../encoding/keys.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { messageIdOfBytes, popReceiptOf } from "../../queue/message/message-id.ts";
import { messages, queues, visibilityIndex, type MessageRecord } from "../../queue/records.ts";
import {
  json,
  noAccount,
  momentOrNever,
  secondsUntil,
  type AdminResponse,
} from "../admin-response.ts";
import { optional, textCheck, wholeNumberText, type Checks } from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import { declareRoute } from "../routes.ts";
import { Names } from "./names.ts";
import { readRecords } from "./pages.ts";

/** The messages that are invisible now: dequeued by a client that has not deleted them yet (in
 *  flight), or put with a delay. */

/** Messages in a response, and code units of the text that it shows of each. */
const pageDefault = 200;
const pageMax = 1000;
const previewUnitsMax = 120;

const query: Checks = {
  account: optional(textCheck),
  queue: optional(textCheck),
  limit: optional(wholeNumberText({ min: 1, max: pageMax })),
};

export const messageRoute = declareRoute("GET /admin/v1/messages", "principal", list, { query });

async function list(request: CheckedRequest): Promise<AdminResponse> {
  const { context, grant, sees } = request;
  const limit = countOf(request.query, "limit", pageDefault);
  const own = grant.kind === "account" ? grant.account : null;
  const account = request.query.get("account") || own;
  const queue = request.query.get("queue") || null;
  if (account !== null && request.accounts.get(account) === undefined) return noAccount(account);
  return readRecords(context, async (records) => {
    const { now } = records;
    const found: MessageInFlight[] = [];
    for await (const each of wantedQueues(records, account, queue)) {
      if (!sees({ service: "queue", account: each.account, name: each.queue })) continue;
      const visible = messagesVisibleBetween(records, each.id, { from: now, limit: limit + 1 });
      for (const message of await visible) found.push(renderMessage(each, message, now));
      if (found.length > limit) break;
    }
    const truncated = found.length > limit;
    const shown = found.slice(0, limit);
    return json({ now: formatIso(now), messages: shown, truncated } satisfies MessagesView);
  });
}

export interface MessagesView {
  readonly now: string;
  readonly messages: readonly MessageInFlight[];
  /** Whether the queue has more messages than the view shows. */
  readonly truncated: boolean;
}

/** A message that is invisible until `visibleAt`. */
export type MessageInFlight = ReturnType<typeof renderMessage>;

export interface QueueTarget {
  readonly account: string;
  readonly queue: string;
  readonly id: bigint;
}

const queuesMax = 10_000;

async function* wantedQueues(
  view: RecordView,
  account: string | null,
  queue: string | null,
): AsyncIterable<QueueTarget> {
  if (account !== null && queue !== null) {
    const owner = await view.get(accounts, account);
    const record = owner && (await view.get(queues, { account: owner.id, name: queue }));
    if (record !== undefined) yield { account, queue, id: record.id };
    return;
  }
  const owner = account === null ? undefined : await view.get(accounts, account);
  if (account !== null && owner === undefined) return;
  const within = queues.range(owner === undefined ? [] : [owner.id]);
  for await (const { place } of queuesWithin(view, within, queuesMax)) {
    if (queue === null || place.queue === queue) yield place;
  }
}

/** Yields at most `limit` queues that follow a key, each with its own key. */
export async function* queuesAfter(
  view: RecordView,
  after: Uint8Array | undefined,
  limit: number,
): AsyncIterable<{ readonly key: Uint8Array; readonly place: QueueTarget }> {
  const { start, end } = queues.range([]);
  const from = after === undefined ? start : successor(after);
  yield* queuesWithin(view, { start: from, end }, limit);
}

async function* queuesWithin(
  view: RecordView,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
  limit: number,
): AsyncIterable<{ readonly key: Uint8Array; readonly place: QueueTarget }> {
  const names = new Names(view);
  for await (const batch of view.scan(queues, { ...range, limit })) {
    for (const { key, record } of batch) {
      const [owner, queue] = queues.parts(key) as [bigint, string];
      const account = await names.account(owner);
      if (account !== undefined) yield { key, place: { account, queue, id: record.id } };
    }
  }
}

interface StoredMessage {
  readonly id: string;
  readonly message: MessageRecord;
}

/** The messages of a queue that become visible after `from`, until `to` if given; soonest first. */
export async function messagesVisibleBetween(
  view: RecordView,
  queue: bigint,
  { from, to, limit }: { readonly from: Ticks; readonly to?: Ticks; readonly limit: number },
): Promise<readonly StoredMessage[]> {
  const start = visibilityIndex.prefix([queue, from + 1n]);
  const end =
    to === undefined
      ? visibilityIndex.range([queue]).end
      : visibilityIndex.prefix([queue, to + 1n]);
  const found: StoredMessage[] = [];
  for await (const batch of view.scan(visibilityIndex, { start, end, limit })) {
    for (const { key, record } of batch) {
      if (record.expires <= view.now) continue;
      const id = messageIdOfBytes(visibilityIndex.parts(key)[2] as Uint8Array);
      const message = await view.get(messages, { queue, id });
      if (message !== undefined) found.push({ id, message });
    }
  }
  return found;
}

function renderMessage(
  { account, queue }: QueueTarget,
  { id, message }: StoredMessage,
  now: Ticks,
) {
  const { inserted, expires, visibleAt, dequeueCount, text } = message;
  return {
    account,
    queue,
    id,
    state: dequeueCount === 0 ? ("delayed" as const) : ("in-flight" as const),
    dequeueCount,
    insertedAt: formatIso(inserted),
    expiresAt: momentOrNever(expires),
    visibleAt: formatIso(visibleAt),
    secondsLeft: secondsUntil(visibleAt, now),
    popReceipt: popReceiptOf(message),
    preview: text.slice(0, previewUnitsMax),
  };
}
