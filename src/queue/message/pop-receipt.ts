import { decodeBase64, encodeBase64 } from "../../core/base64.ts";
import { invalidQuery } from "../../core/faults.ts";
import { fail, ok, type Result } from "../../core/result.ts";
import type { MessageRecord } from "../records.ts";

const receiptBytes = 20;
const form = 2;

/** Which get, put or update last moved the message: clients are to treat it as opaque. */
export function popReceiptOf({
  visibleAt,
  revision,
}: Pick<MessageRecord, "visibleAt" | "revision">): string {
  const bytes = new Uint8Array(receiptBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, form, true);
  view.setBigUint64(4, BigInt(revision), true);
  view.setBigUint64(12, visibleAt, true);
  return encodeBase64(bytes);
}

/** Only the latest receipt opens a message, also when its time has run out. */
export function checkPopReceipt(message: MessageRecord, receipt: string): Result<undefined> {
  if (receipt === popReceiptOf(message)) return ok(undefined);
  const isReceipt = decodeBase64(receipt)?.length === receiptBytes;
  return isReceipt
    ? fail("PopReceiptMismatch")
    : invalidQuery("popreceipt", receipt, "invalid receipt format");
}
