/** Names of the file attributes in REST with their SMB bits, in the order in which REST lists
 *  them. */
const names = [
  ["ReadOnly", 0x1],
  ["Hidden", 0x2],
  ["System", 0x4],
  ["Directory", 0x10],
  ["Archive", 0x20],
  ["Temporary", 0x100],
  ["Offline", 0x1000],
  ["NotContentIndexed", 0x2000],
  ["NoScrubData", 0x2_0000],
] as const;

export const readOnlyAttribute = 0x1;
export function isReadOnly({ attributes }: { readonly attributes: number }): boolean {
  return (attributes & readOnlyAttribute) !== 0;
}

export const directoryAttribute = 0x10;
export const archiveAttribute = 0x20;

/** Parses a list of names such as `ReadOnly | Archive`, or `None`. Undefined if a name is
 *  unknown. */
export function parseAttributes(text: string): number | undefined {
  const words = text.split("|").map((word) => word.trim().toLowerCase());
  if (words.length === 1 && words[0] === "none") return 0;
  let bits = 0;
  for (const word of words) {
    const known = names.find(([name]) => name.toLowerCase() === word);
    if (known === undefined) return undefined;
    bits |= known[1];
  }
  return bits;
}

export function formatAttributes(bits: number): string {
  const held = names.filter(([, bit]) => (bits & bit) !== 0).map(([name]) => name);
  return held.length === 0 ? "None" : held.join(" | ");
}
