import type { Random } from "../../base/world.ts";

/** Chooses the share of requests that are traced. Bytes of a random number: */
const drawnBytes = 6;
const drawnMax = 2 ** (8 * drawnBytes);

/** Returns a function that is true for this share of the calls, independently for each call. It
 *  draws the number of calls to skip before the next true one, so that a skipped call costs a
 *  subtraction. */
export function sampleShare(share: number, random: Random): () => boolean {
  if (share <= 0) return () => false;
  if (share >= 1) return () => true;
  // The number of failures before a success of probability `share` is distributed geometrically.
  const drawSkipped = (): number => {
    const drawn = Buffer.from(random.bytes(drawnBytes)).readUIntBE(0, drawnBytes);
    return Math.floor(Math.log((drawn + 1) / drawnMax) / Math.log1p(-share));
  };
  let skipped = drawSkipped();
  return () => {
    if (skipped > 0) {
      skipped -= 1;
      return false;
    }
    skipped = drawSkipped();
    return true;
  };
}
