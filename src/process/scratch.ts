/** Bytes in which a key is encoded before it is copied (`encoding/keys.ts`): long enough for a key
 *  of 4,000 UTF-16 code units, of which each takes three bytes. */
export const keyScratch = new Uint8Array(16 * 1024);
