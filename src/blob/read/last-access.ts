import type { Features } from "../../protocol/features.ts";
import type { DeferredUpdate } from "../../operation/reply.ts";
import { anyTable } from "../../encoding/table.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import { blobs, type BlobRecord } from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";

/** Block blobs of accounts that track it have been accessed when they were last written or read;
 *  reads are noted once a day. */
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

/** The note that a read leaves, if it is the first of the day. */
export function lastAccessUpdate(reading: LastAccessContext): {
  readonly deferredUpdate?: DeferredUpdate;
} {
  const { target, scope, address, features, now } = reading;
  const known = lastAccess(target, features);
  const isBase = address.snapshot === undefined && address.versionId === undefined;
  if (known === undefined || !isBase || now - known < ticksPerDay) return {};
  const { key } = scope;
  const change = (record: object) =>
    (record as BlobRecord).etag === target.etag ? { ...record, lastAccess: now } : undefined;
  return { deferredUpdate: { table: anyTable(blobs), key, change } };
}
