import { blobConditions } from "./steps/blob-conditions.ts";
import { blobLease } from "./steps/blob-lease.ts";
import { commitByRename } from "./steps/commit-by-rename.ts";
import { containerConditions } from "./steps/container-conditions.ts";
import { containerLease } from "./steps/container-lease.ts";
import { deletePending } from "./steps/delete-pending.ts";
import { lastWriter } from "./steps/last-writer.ts";
import { leaseLife } from "./steps/lease-life.ts";
import { optimisticBlob } from "./steps/optimistic-blob.ts";
import { queueConsumers } from "./steps/queue-consumers.ts";
import { smbLock } from "./steps/smb-lock.ts";
import { smbOpen } from "./steps/smb-open.ts";
import { tableETag } from "./steps/table-etag.ts";
import { tableLock } from "./steps/table-lock.ts";
import type { Step } from "./tour.ts";

export const steps: readonly Step[] = [
  optimisticBlob,
  blobConditions,
  blobLease,
  leaseLife,
  containerConditions,
  containerLease,
  tableETag,
  tableLock,
  queueConsumers,
  lastWriter,
  commitByRename,
  smbOpen,
  smbLock,
  deletePending,
];
