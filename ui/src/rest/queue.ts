import { mapped, type Result } from "../result.ts";
import type { ListingOptions, Page } from "./container.ts";
import { request, bodyText } from "./request.ts";
import { childOf, childrenOf, escapeXml, nameOf, numberOf, parseXml, textOf } from "./xml.ts";

export interface QueueAddress {
  readonly account: string;
  readonly queue: string;
}

export interface QueueName {
  readonly name: string;
}

export interface QueueMessage {
  readonly id: string;
  readonly text: string;
  readonly insertedAt: string;
  readonly expiresAt: string;
  readonly dequeueCount: number;
  readonly popReceipt: string | undefined;
}

export async function listQueues(
  account: string,
  { prefix, marker, signal }: ListingOptions,
): Promise<Result<Page<QueueName>>> {
  const query = { comp: "list", prefix: prefix || undefined, marker, maxresults: 1000 };
  const answer = await request("queue", [account], { query, signal });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const rows = childrenOf(childOf(root, "Queues"), "Queue").map((one) => ({ name: nameOf(one) }));
  return { ok: true, value: { rows, next: textOf(root, "NextMarker") || undefined } };
}

export function createQueue(account: string, queue: string): Promise<Result<unknown>> {
  return request("queue", [account, queue], { method: "PUT" });
}

export function deleteQueue(account: string, queue: string): Promise<Result<unknown>> {
  return request("queue", [account, queue], { method: "DELETE" });
}

export async function countMessages(
  { account, queue }: QueueAddress,
  signal?: AbortSignal,
): Promise<Result<number>> {
  const query = { comp: "metadata" };
  const answer = await request("queue", [account, queue], { query, signal });
  return mapped(answer, ({ headers }) => Number(headers.get("x-ms-approximate-messages-count")));
}

const messagesMax = 32;

export async function peekMessages(
  { account, queue }: QueueAddress,
  signal?: AbortSignal,
): Promise<Result<readonly QueueMessage[]>> {
  const query = { peekonly: "true", numofmessages: messagesMax };
  const answer = await request("queue", [account, queue, "messages"], { query, signal });
  return answer.ok ? readMessages(bodyText(answer.value)) : answer;
}

export async function takeMessages(
  { account, queue }: QueueAddress,
  { howMany, hiddenSeconds }: { readonly howMany: number; readonly hiddenSeconds: number },
): Promise<Result<readonly QueueMessage[]>> {
  const query = { numofmessages: howMany, visibilitytimeout: hiddenSeconds };
  const answer = await request("queue", [account, queue, "messages"], { query });
  return answer.ok ? readMessages(bodyText(answer.value)) : answer;
}

function readMessages(text: string): Result<readonly QueueMessage[]> {
  const messages = childrenOf(parseXml(text), "QueueMessage").map((one) => ({
    id: textOf(one, "MessageId") ?? "",
    text: textOf(one, "MessageText") ?? "",
    insertedAt: textOf(one, "InsertionTime") ?? "",
    expiresAt: textOf(one, "ExpirationTime") ?? "",
    dequeueCount: numberOf(one, "DequeueCount") ?? 0,
    popReceipt: textOf(one, "PopReceipt"),
  }));
  return { ok: true, value: messages };
}

function messageXml(text: string): string {
  return `<QueueMessage><MessageText>${escapeXml(text)}</MessageText></QueueMessage>`;
}

interface NewMessage {
  readonly text: string;
  readonly hiddenSeconds: number;
  readonly livesSeconds: number;
}

export function putMessage(
  { account, queue }: QueueAddress,
  { text, hiddenSeconds, livesSeconds }: NewMessage,
): Promise<Result<unknown>> {
  return request("queue", [account, queue, "messages"], {
    method: "POST",
    query: { visibilitytimeout: hiddenSeconds, messagettl: livesSeconds },
    headers: { "content-type": "application/xml" },
    body: messageXml(text),
  });
}

/** A message in flight, with its pop receipt. Only that of the last dequeue or update is valid; an
 *  older one is rejected. */
interface MessageReceipt {
  readonly id: string;
  readonly popReceipt: string;
}

export function updateMessage(
  { account, queue }: QueueAddress,
  { id, popReceipt }: MessageReceipt,
  change: { readonly hiddenSeconds: number; readonly text?: string },
): Promise<Result<unknown>> {
  return request("queue", [account, queue, "messages", id], {
    method: "PUT",
    query: { popreceipt: popReceipt, visibilitytimeout: change.hiddenSeconds },
    ...(change.text === undefined
      ? {}
      : { headers: { "content-type": "application/xml" }, body: messageXml(change.text) }),
  });
}

export function deleteMessage(
  { account, queue }: QueueAddress,
  { id, popReceipt }: MessageReceipt,
): Promise<Result<unknown>> {
  return request("queue", [account, queue, "messages", id], {
    method: "DELETE",
    query: { popreceipt: popReceipt },
  });
}

export function clearMessages({ account, queue }: QueueAddress): Promise<Result<unknown>> {
  return request("queue", [account, queue, "messages"], { method: "DELETE" });
}
