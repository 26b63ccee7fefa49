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
import type { HeldExtent } from "./expected-content.ts";

export interface ExtentAudit {
  readonly view: View;
  readonly files: ExtentFiles;
  readonly filesBefore: ReadonlySet<bigint>;
  readonly held: ReadonlyMap<bigint, HeldExtent>;
  /** Forgotten already; their files may be there or not. */
  readonly dying: ReadonlySet<bigint>;
  readonly complain: (problem: string) => void;
}

const nothing: HeldExtent = { liveBytes: 0, owners: 0, end: 0 };

/** Compares extents with those who refer to them; returns how many there are. */
export async function auditExtents(audit: ExtentAudit): Promise<number> {
  const { held, complain } = audit;
  const { records, live } = await readTable(audit.view);
  const owners = await countOwners(audit.view);
  for (const [extent, record] of records) {
    const name = `extent ${extent.toString(16)}`;
    const wanted = held.get(extent) ?? nothing;
    const counted = live.get(extent) ?? 0n;
    if (counted !== BigInt(wanted.liveBytes)) {
      complain(`${name} counts ${counted} bytes in use, but ${wanted.liveBytes} are`);
    }
    const indexed = owners.get(extent) ?? 0;
    if (indexed > wanted.owners) {
      complain(`${name} has ${indexed} owners in its index, but ${wanted.owners} refer to it`);
    }
    await checkEnd(audit, name, extent, record);
  }
  for (const extent of new Set([...held.keys(), ...live.keys(), ...owners.keys()])) {
    if (!records.has(extent)) complain(`extent ${extent.toString(16)} is used, but not known`);
  }
  for (const extent of audit.filesBefore) {
    if (records.has(extent) || audit.dying.has(extent)) continue;
    // Removed since the files were listed, as it should be.
    if ((await audit.files.size(extent)) === 0) continue;
    complain(`the file of extent ${extent.toString(16)} is left over`);
  }
  return records.size;
}

async function checkEnd(
  { held, files, complain }: ExtentAudit,
  name: string,
  extent: bigint,
  { sealedBytes }: ExtentRecord,
): Promise<void> {
  const end = held.get(extent)?.end ?? 0;
  if (sealedBytes !== undefined && end > sealedBytes) {
    complain(`${name} was sealed at ${sealedBytes}, but is used up to ${end}`);
  }
  const size = await files.size(extent);
  if (end > size) complain(`${name} ends at ${size}, but is used up to ${end}`);
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
