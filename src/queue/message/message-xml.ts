import { formatHttpDate } from "../../base/dates.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, plainElement, textElement } from "../../encoding/xml-writer.ts";
import type { MessageRecord } from "../records.ts";
import { popReceiptOf } from "./pop-receipt.ts";

export interface IdentifiedMessage {
  readonly id: string;
  readonly message: MessageRecord;
}

/** Ids, dates, receipts and numbers have nothing to escape. */
function identity({ id, message }: IdentifiedMessage): string {
  return (
    plainElement("MessageId", id) +
    plainElement("InsertionTime", formatHttpDate(message.inserted)) +
    plainElement("ExpirationTime", formatHttpDate(message.expires))
  );
}

function claim({ message }: IdentifiedMessage): string {
  return (
    plainElement("PopReceipt", popReceiptOf(message)) +
    plainElement("TimeNextVisible", formatHttpDate(message.visibleAt))
  );
}

function contents({ message }: IdentifiedMessage): string {
  return (
    plainElement("DequeueCount", message.dequeueCount) + textElement("MessageText", message.text)
  );
}

type Part = (message: IdentifiedMessage) => string;

function listOf(messages: readonly IdentifiedMessage[], parts: readonly Part[]) {
  let inner = "";
  for (const message of messages) {
    inner += "<QueueMessage>";
    for (const part of parts) inner += part(message);
    inner += "</QueueMessage>";
  }
  return xmlBody(element("QueueMessagesList", inner));
}

/** What the sender learns; it knows the text. */
export function putAnswer(message: IdentifiedMessage) {
  return listOf([message], [identity, claim]);
}

export function getAnswer(messages: readonly IdentifiedMessage[]) {
  return listOf(messages, [identity, claim, contents]);
}

/** No receipt: who only looks can neither delete nor update. */
export function peekAnswer(messages: readonly IdentifiedMessage[]) {
  return listOf(messages, [identity, contents]);
}
