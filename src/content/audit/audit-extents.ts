import { decodeCounter } from "../../store/counter.ts";
import type { View } from "../../store/store.ts";
import type { ExtentFiles } from "../extent-files.ts";
import {
  extentCodec,
  leadingId,
  parseExtentKey,
  wholeTables,
  type ExtentRecord,
} from "../tables.ts";
import type { ExpectedExtent } from "./expected-content.ts";

export interface ExtentAudit {
  readonly view: View;
  readonly files: ExtentFiles;
  readonly filesBefore: ReadonlySet<bigint>;
  readonly expected: ReadonlyMap<bigint, ExpectedExtent>;
  /** Extents among the garbage; their files may or may not exist. */
  readonly removed: ReadonlySet<bigint>;
  readonly report: (problem: string) => void;
}

const nothing: ExpectedExtent = { liveBytes: 0, owners: 0, end: 0 };

/** Compares extents with the references to them; returns the number of extents. */
export async function auditExtents(audit: ExtentAudit): Promise<number> {
  const { expected, report } = audit;
  const { records, live } = await readTable(audit.view);
  const owners = await countOwners(audit.view);
  for (const [extent, record] of records) {
    const name = `extent ${extent.toString(16)}`;
    const wanted = expected.get(extent) ?? nothing;
    const counted = live.get(extent) ?? 0n;
    if (counted !== BigInt(wanted.liveBytes)) {
      report(`${name} counts ${counted} bytes in use, but ${wanted.liveBytes} are`);
    }
    const indexed = owners.get(extent) ?? 0;
    if (indexed > wanted.owners) {
      report(`${name} has ${indexed} owners in its index, but ${wanted.owners} refer to it`);
    }
    await checkEnd(audit, name, extent, record);
  }
  for (const extent of new Set([...expected.keys(), ...live.keys(), ...owners.keys()])) {
    if (!records.has(extent)) report(`extent ${extent.toString(16)} is used, but not known`);
  }
  for (const extent of audit.filesBefore) {
    if (records.has(extent) || audit.removed.has(extent)) continue;
    // A file of size 0 was removed after it was listed.
    if ((await audit.files.size(extent)) === 0) continue;
    report(`the file of extent ${extent.toString(16)} is left over`);
  }
  return records.size;
}

async function checkEnd(
  { expected, files, report }: ExtentAudit,
  name: string,
  extent: bigint,
  { sealedBytes }: ExtentRecord,
): Promise<void> {
  const end = expected.get(extent)?.end ?? 0;
  if (sealedBytes !== undefined && end > sealedBytes) {
    report(`${name} was sealed at ${sealedBytes}, but is used up to ${end}`);
  }
  const size = await files.size(extent);
  if (end > size) report(`${name} ends at ${size}, but is used up to ${end}`);
}

async function readTable(view: View) {
  const records = new Map<bigint, ExtentRecord>();
  const live = new Map<bigint, bigint>();
  for await (const entries of view.range(wholeTables.extents)) {
    for (const { key, value } of entries) {
      const { extent, isRecord } = parseExtentKey(key);
      if (isRecord) records.set(extent, extentCodec.decode(value));
      else live.set(extent, decodeCounter(value));
    }
  }
  return { records, live };
}

async function countOwners(view: View): Promise<ReadonlyMap<bigint, number>> {
  const owners = new Map<bigint, number>();
  for await (const entries of view.range(wholeTables.owners)) {
    for (const { key } of entries) {
      const extent = leadingId(key);
      owners.set(extent, (owners.get(extent) ?? 0) + 1);
    }
  }
  return owners;
}
