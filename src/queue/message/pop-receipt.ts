import { decodeBase64 } from "../../core/base64.ts";
import { invalidQuery } from "../../core/faults.ts";
import { fail, ok, type Result } from "../../core/result.ts";
import type { MessageRecord } from "../records.ts";

const receiptBytes = 20;
const form = 2;
/** Each receipt is written over the one before and leaves as text. */
const scratch = Buffer.alloc(receiptBytes);

/** Which get, put or update last moved the message: clients are to treat it as opaque. */
export function popReceiptOf({
  visibleAt,
  revision,
}: Pick<MessageRecord, "visibleAt" | "revision">): string {
  scratch.writeUInt32LE(form, 0);
  scratch.writeBigUInt64LE(BigInt(revision), 4);
  scratch.writeBigUInt64LE(visibleAt, 12);
  return scratch.toString("base64");
}

/** Only the latest receipt opens a message, also when its time has run out. */
export function checkPopReceipt(message: MessageRecord, receipt: string): Result<undefined> {
  if (receipt === popReceiptOf(message)) return ok(undefined);
  const isReceipt = decodeBase64(receipt)?.length === receiptBytes;
  return isReceipt
    ? fail("PopReceiptMismatch")
    : invalidQuery("popreceipt", receipt, "invalid receipt format");
}
