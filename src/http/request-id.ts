import { newGuid } from "../operation/identifiers.ts";
import type { Random } from "../base/world.ts";

const countMax = 2 ** 32;
const firstGroupLength = 8;

let count = countMax;
let rest = "";

/** Returns a GUID that is unique per request: the first group is a counter, the others are random
 *  per process. Sixteen random bytes per request would cost several times as much. */
export function newRequestId(random: Random): string {
  if (count >= countMax) {
    const seed = newGuid(random);
    count = 0;
    rest = seed.slice(firstGroupLength);
  }
  const group = count.toString(16).padStart(firstGroupLength, "0");
  count += 1;
  return group + rest;
}
