import { ticksPerMillisecond, ticksToUnixMilliseconds, type Ticks } from "../../base/ticks.ts";
import { decodeBase64 } from "../../base/base64.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { MessageRecord } from "../records.ts";
import type { QueueAddress } from "../resources.ts";

/** Ids and pop receipts of queue messages. Get Messages returns a pop receipt with each message;
 *  the client must send it back to delete or update the message. */

/** The form of an id: see `newMessageId`. */
const millisecondDigits = 12;
const fractionSteps = 4096;
const ticksPerFraction = Number(ticksPerMillisecond) / fractionSteps;
const fractionDigits = 3;
const versionDigit = "7";

/** Resolution of the time in an id: ids of times at least this far apart sort by time. Event
 *  delivery spaces its messages by it, to keep their order. */
export const messageIdTicksMin = BigInt(Math.ceil(ticksPerFraction));

/** Returns a version 7 GUID (RFC 9562): 48 bits of milliseconds, 12 bits of a fraction of a
 *  millisecond, and the random bits of `randomGuid`, a version 4 GUID. Ids are parts of keys, so
 *  consecutive messages are adjacent in the store. */
export function newMessageId(now: Ticks, randomGuid: string): string {
  const milliseconds = ticksToUnixMilliseconds(now).toString(16).padStart(millisecondDigits, "0");
  const fraction = Math.floor(Number(now % ticksPerMillisecond) / ticksPerFraction);
  const steps = fraction.toString(16).padStart(fractionDigits, "0");
  const time = `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`;
  return `${time}-${versionDigit}${steps}${randomGuid.slice(18)}`;
}

const idBytes = 16;
const dash = 0x2d;
const digitNine = 0x39;
const digitZero = 0x30;
const lowerCaseOffset = 0x61 - 10;

/** Returns the 16 bytes of an id (lower case, with dashes), to keep the keys of the store short. */
export function bytesOfMessageId(id: string): Uint8Array {
  const bytes = new Uint8Array(idBytes);
  let at = 0;
  for (let index = 0; index < id.length; index += 2) {
    if (id.charCodeAt(index) === dash) index += 1;
    bytes[at] = (digitOf(id.charCodeAt(index)) << 4) | digitOf(id.charCodeAt(index + 1));
    at += 1;
  }
  return bytes;
}

/** The value of a lower-case hexadecimal digit. */
function digitOf(code: number): number {
  return code > digitNine ? code - lowerCaseOffset : code - digitZero;
}

/** The inverse of `bytesOfMessageId`, for keys that a scan has read. */
export function messageIdOfBytes(bytes: Uint8Array): string {
  const hex = hexSlice.call(bytes);
  const time = `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
  return `${time}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An undocumented method of `Buffer` that writes any `Uint8Array` in hexadecimal: cheaper than
 *  `toString`, for which a `Buffer` would have to be created. */
const { hexSlice } = Buffer.prototype as unknown as {
  readonly hexSlice: (this: Uint8Array) => string;
};

const receiptBytes = 20;
/** The first number of every receipt, fixed: a change would invalidate the receipts in use. */
const receiptFormat = 2;

/** The receipt of the Put, Get or Update Message that last changed a message; the earlier receipts
 *  of the message are invalid. Opaque to clients. */
export function popReceiptOf({
  visibleAt,
  updateCount,
}: Pick<MessageRecord, "visibleAt" | "updateCount">): string {
  const receipt = Buffer.allocUnsafe(receiptBytes);
  receipt.writeUInt32LE(receiptFormat, 0);
  receipt.writeBigUInt64LE(BigInt(updateCount), 4);
  receipt.writeBigUInt64LE(visibleAt, 12);
  return receipt.toString("base64");
}

interface AddressedMessage {
  /** Undefined if the queue has no message with this id. */
  readonly target: MessageRecord | undefined;
  readonly address: Pick<QueueAddress, "message">;
}

/** For Update and Delete Message: returns the message if `receipt` is its latest pop receipt, also
 *  after its visibility timeout has passed. Order of the faults, recorded from Azure: a receipt
 *  that is not Base64 is 400; an id that is no GUID is 404; a receipt of another length is 400
 *  whether the message exists or not; a missing message is 404; any other receipt is 400. */
export function checkPopReceipt(
  { target, address }: AddressedMessage,
  receipt: string,
): Result<MessageRecord> {
  if (target !== undefined && receipt === popReceiptOf(target)) return ok(target);
  const decoded = decodeBase64(receipt);
  if (decoded !== undefined && address.message === "") return fail("MessageNotFound");
  if (decoded?.length !== receiptBytes) {
    return invalidQuery("popreceipt", receipt, "Invalid pop receipt format");
  }
  return fail(target === undefined ? "MessageNotFound" : "PopReceiptMismatch");
}
