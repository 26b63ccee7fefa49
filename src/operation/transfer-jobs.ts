import { recordCodec } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { TransferJob } from "./transfer-handler.ts";

/** A stored transfer job. It stays, also over restarts, until the target has the bytes or the
 *  failure. */
export interface StoredTransfer extends TransferJob {
  readonly attempts: number;
  /** While this time is in the future, the process that claimed the job works on it. Undefined: not
   *  claimed. */
  readonly claimedUntil?: Ticks | undefined;
}

export const transferJobs = defineTable<{ id: string }, StoredTransfer>({
  name: "transfer-jobs",
  tag: 0x03,
  key: ({ id }) => [id],
  codec: recordCodec<StoredTransfer>({ version: 1 }),
  owner: "store",
  lifetime: "durable",
  role: "record",
  // A copy in progress counts as aborted in an archive.
  isArchived: false,
});
