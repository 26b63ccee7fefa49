import { put, type Effect } from "../../operation/effects.ts";
import type { Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { generations, type BlobRecord } from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";

function addressed(...sources: readonly string[]): Param<undefined> {
  return { sources, parse: () => ok(undefined) };
}

/** Declares that a write may be aimed at a snapshot or a version. What declares neither refuses
 *  both (`guard.ts`); the address itself has the parsed times. */
export const anyGeneration = addressed("?snapshot", "?versionid");
export const versionOnly = addressed("?versionid");

interface Situation {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord;
}

interface Written {
  readonly put?: BlobRecord;
  readonly effects?: readonly Effect[];
}

/** Writes a record back to where the address found it: the blob, or a snapshot or version of it. */
export function putAddressed({ scope, address, target }: Situation, record: BlobRecord): Written {
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
