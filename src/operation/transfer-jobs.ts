import { recordCodec } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { TransferJob } from "./transfer-handler.ts";

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
