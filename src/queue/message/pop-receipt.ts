import { decodeBase64 } from "../../base/base64.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { MessageRecord } from "../records.ts";
import type { QueueAddress } from "../resources.ts";

const receiptBytes = 20;
const receiptFormat = 2;

/** Identifies the Put, Get or Update Message that last changed the message. Opaque to clients. */
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
  /** Undefined if the queue has no such message. */
  readonly target: MessageRecord | undefined;
  readonly address: Pick<QueueAddress, "message">;
}

/**
 * Returns the message if `receipt` is its latest one, also after its visibility timeout has passed.
 * Order of the faults, as recorded from the service: a receipt that is not Base64 is 400; an id
 * that is no GUID is 404; a receipt of another length is 400 whether the message exists or not;
 * then the message must exist.
 */
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
