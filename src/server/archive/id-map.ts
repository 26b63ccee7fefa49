import { createHash } from "node:crypto";
import type { Random } from "../../base/world.ts";

const saltBytes = 16;

/** Returns a new id for each id of an archive: always the same one during a load, and another one
 *  in the next load, so that an archive can be loaded twice into one store, also beside its
 *  original. Ids are derived from a random number instead of being remembered: an archive may have
 *  millions of directories. */
export function idMap(random: Random): (id: bigint) => bigint {
  const salt = random.bytes(saltBytes);
  const bytes = Buffer.alloc(8);
  let last = { id: -1n, mapped: 0n };
  return (id) => {
    if (id === last.id) return last.mapped;
    bytes.writeBigUInt64BE(id);
    const digest = createHash("sha256").update(salt).update(bytes).digest();
    // One bit less than 64, as `newId` has.
    last = { id, mapped: digest.readBigUInt64BE(0) >> 1n };
    return last.mapped;
  };
}
