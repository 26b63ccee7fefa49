import { recordCodec } from "../core/record.ts";
import { defineTable } from "../core/table.ts";
import type { Ticks } from "../core/ticks.ts";
import type { TransferJob } from "../core/transfer.ts";

/** A job stays until its target has the bytes, or is told why not; it survives its process. */
export interface StoredTransfer extends TransferJob {
  readonly attempts: number;
  /** Until then the process that took it on is working on it. */
  readonly claimedUntil?: Ticks | undefined;
}

export const transferJobs = defineTable<{ id: string }, StoredTransfer>({
  name: "transfer-jobs",
  tag: 0x03,
  key: ({ id }) => [id],
  codec: recordCodec<StoredTransfer>({ version: 1 }),
});
