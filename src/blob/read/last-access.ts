import type { Features } from "../../protocol/features.ts";
import type { DeferredUpdate } from "../../operation/reply.ts";
import { anyTable } from "../../encoding/table.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import { blobs, type BlobRecord } from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";

/** Time of the last write or read of a block blob. Reads are stored at most once a day. Undefined
 *  if the account does not track it. */
export function lastAccess(record: BlobRecord, features: Features): Ticks | undefined {
  if (features.lastAccessTracking !== true || record.type !== "BlockBlob") return undefined;
  const { lastAccess: read = 0n, etag } = record;
  return read > etag ? read : etag;
}

interface LastAccessContext {
  readonly target: BlobRecord;
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly features: Features;
  readonly now: Ticks;
}

/** The deferred update that stores the time of a read, if the stored time is older than 24 h;
 *  otherwise empty. */
export function lastAccessUpdate(context: LastAccessContext): {
  readonly deferredUpdate?: DeferredUpdate;
} {
  const { target, scope, address, features, now } = context;
  const lastAccessed = lastAccess(target, features);
  const isBase = address.snapshot === undefined && address.versionId === undefined;
  if (lastAccessed === undefined || !isBase || now - lastAccessed < ticksPerDay) return {};
  const { key } = scope;
  const change = (record: object) =>
    (record as BlobRecord).etag === target.etag ? { ...record, lastAccess: now } : undefined;
  return { deferredUpdate: { table: anyTable(blobs), key, change } };
}
