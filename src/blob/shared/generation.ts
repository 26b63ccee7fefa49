import { put, type Effect } from "../../operation/effects.ts";
import { generations, type BlobRecord } from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";

interface AddressedBlob {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord;
}

interface AddressedWrite {
  readonly put?: BlobRecord;
  readonly effects?: readonly Effect[];
}

/** Writes the record that the address names: the current blob as the target's record, a snapshot or
 *  version by an effect. */
export function putAddressed(
  { scope, address, target }: AddressedBlob,
  record: BlobRecord,
): AddressedWrite {
  const { key } = scope;
  if (address.snapshot !== undefined) {
    const kind = "snapshot" as const;
    return { effects: [put(generations, { ...key, at: address.snapshot, kind }, record)] };
  }
  if (address.versionId !== undefined && target.superseded === true) {
    const kind = "version" as const;
    return { effects: [put(generations, { ...key, at: address.versionId, kind }, record)] };
  }
  return { put: record };
}
