import type { EngineReader } from "../store/engine.ts";
import { keyOfText, textOfKey } from "../encoding/keys.ts";
import type { ChangedKey, RestoreRules, RestoreWrite } from "../store/saved-states/saved-states.ts";
import type { Key, Value } from "../store/store.ts";
import {
  contentTagOf,
  extentKey,
  garbageCodec,
  garbageKey,
  identityTag,
  leadingId,
  parseExtentKey,
} from "./tables.ts";

/**
 * How content is restored with a saved state of the store (`data/services.ts` passes these rules to
 * it). Records of other services return to their old values; those of content cannot, because
 * extents and running readers exist outside the store:
 *
 * - Records of extents are kept, because they describe files. No extent that a saved state contains
 *   is removed (`content/reclaim/space-reclaimer.ts`). Those created since have no live bytes after
 *   the restore, so they are removed later.
 * - Content nodes that the saved state does not contain become garbage instead of being deleted: a
 *   download may still read them.
 * - Garbage entries created since are reduced to their extents: their nodes belong to the restored
 *   state, or to the garbage of the restore.
 */
export const contentRestore: RestoreRules = {
  excluded: new Set([identityTag]),
  cleared: [],
  adapt(changed, { current, sequence }) {
    const writes: RestoreWrite[] = [];
    const created: bigint[] = [];
    for (const each of changed) {
      const kind = contentTagOf(each.key);
      const isCreated = each.before === undefined && each.now !== undefined;
      if (kind === "node" && isCreated) created.push(leadingId(each.key));
      else if (kind === "garbage" && isCreated) writes.push(...withoutNodes(each));
      else if (kind !== "extent" || isRestorable(each.key, current)) writes.push(restored(each));
    }
    const known = knownGarbage(changed);
    const nodes = created.filter((id) => !known.has(id));
    return nodes.length === 0 ? writes : [...writes, garbageOf(nodes, sequence)];
  },
};

function restored({ key, text, before }: ChangedKey): RestoreWrite {
  return { key, text, value: before };
}

/** Whether a key is the live-bytes counter of an extent that exists: only this is restored. */
function isRestorable(key: Key, current: EngineReader): boolean {
  const { extent, isRecord } = parseExtentKey(key);
  const record = extentKey(extent);
  return !isRecord && current.get(record, textOfKey(record)) !== undefined;
}

/** Reduces a garbage entry that was created since the saved state to its extents. Entries of
 *  earlier restores stay as they are: readers may still need their nodes. */
function withoutNodes({ key, text, now }: ChangedKey): readonly RestoreWrite[] {
  const garbage = garbageCodec.decode(now as Value);
  if (garbage.isFromRestore === true) return [];
  const { extents } = garbage;
  if (extents.length === 0) return [{ key, text, value: undefined }];
  return [{ key, text, value: garbageCodec.encode({ nodes: [], trees: [], extents }) }];
}

/** Nodes that are in the garbage of earlier restores, so that they are not deleted twice. */
function knownGarbage(changed: readonly ChangedKey[]): ReadonlySet<bigint> {
  const known = new Set<bigint>();
  for (const { key, now } of changed) {
    if (now === undefined || contentTagOf(key) !== "garbage") continue;
    const garbage = garbageCodec.decode(now);
    if (garbage.isFromRestore === true) for (const id of garbage.nodes) known.add(id);
  }
  return known;
}

/** Second part of the key of the garbage entry that a restore writes. No other entry has it,
 *  because ids of nodes and extents start at 2^32. */
const restoreGarbageId = 0n;

function garbageOf(nodes: readonly bigint[], sequence: number): RestoreWrite {
  const key = garbageKey(sequence, restoreGarbageId);
  const value = garbageCodec.encode({ nodes, trees: [], extents: [], isFromRestore: true });
  const text = textOfKey(key);
  return { key: keyOfText(text), text, value };
}
