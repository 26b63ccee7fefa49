import { formatHttpDate } from "../../base/dates.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, plainElement, textElement } from "../../encoding/xml-writer.ts";
import type { MessageRecord } from "../records.ts";
import { popReceiptOf } from "./message-id.ts";

/** The XML in the responses of Put, Get and Peek Messages. */

/** A message with its id, which is a part of the key, not of the record. */
export interface IdentifiedMessage {
  readonly id: string;
  readonly message: MessageRecord;
}

/** The elements of every response. Uses `plainElement`, which saves the escaping of texts without
 *  markup: ids, dates, receipts and numbers. */
function identityElements({ id, message }: IdentifiedMessage): string {
  return (
    plainElement("MessageId", id) +
    plainElement("InsertionTime", formatHttpDate(message.inserted)) +
    plainElement("ExpirationTime", formatHttpDate(message.expires))
  );
}

function receiptElements({ message }: IdentifiedMessage): string {
  return (
    plainElement("PopReceipt", popReceiptOf(message)) +
    plainElement("TimeNextVisible", formatHttpDate(message.visibleAt))
  );
}

function contentElements({ message }: IdentifiedMessage): string {
  return (
    plainElement("DequeueCount", message.dequeueCount) + textElement("MessageText", message.text)
  );
}

type ElementRenderer = (message: IdentifiedMessage) => string;

function listOf(messages: readonly IdentifiedMessage[], renderers: readonly ElementRenderer[]) {
  let inner = "";
  for (const message of messages) {
    inner += "<QueueMessage>";
    for (const render of renderers) inner += render(message);
    inner += "</QueueMessage>";
  }
  return xmlBody(element("QueueMessagesList", inner));
}

/** The response of Put Message: the new message with its pop receipt, without its text. */
export function renderPutResponse(message: IdentifiedMessage) {
  return listOf([message], [identityElements, receiptElements]);
}

/** The response of Get Messages: all elements. */
export function renderGetResponse(messages: readonly IdentifiedMessage[]) {
  return listOf(messages, [identityElements, receiptElements, contentElements]);
}

/** The response of Peek Messages. It has no pop receipts, so that a peeked message can be neither
 *  deleted nor updated. */
export function renderPeekResponse(messages: readonly IdentifiedMessage[]) {
  return listOf(messages, [identityElements, contentElements]);
}
