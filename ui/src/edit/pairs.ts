/** Name-value pairs as lines, so that versions can be merged like text. */
export function pairsToText(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

export function textToPairs(text: string): Readonly<Record<string, string>> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf(":");
      return cut < 0 ? [line.trim(), ""] : [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}
