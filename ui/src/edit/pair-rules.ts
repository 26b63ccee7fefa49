import type { Pair } from "./pairs-editor.tsx";

/** The first mistake in metadata, as a sentence that names the field. */
export function metadataProblem(pairs: readonly Pair[]): string | undefined {
  const seen = new Set<string>();
  for (const [at, [name, value]] of pairs.entries()) {
    const field = `Metadata name ${at + 1}`;
    if (name === "") return `${field} is empty.`;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      return `${field}: “${name}” must be letters, digits and _, and not begin with a digit.`;
    }
    if (seen.has(name.toLowerCase())) return `${field}: “${name}” is there twice.`;
    seen.add(name.toLowerCase());
    if (!/^[\t\x20-\x7e\xa0-\xff]*$/.test(value)) {
      return `Metadata value ${at + 1}: “${value}” has letters outside Latin-1.`;
    }
  }
  return undefined;
}

const tagsMax = 10;
const tagLetters = "letters, digits, spaces or +-./:=_";

export function tagsProblem(pairs: readonly Pair[]): string | undefined {
  if (pairs.length > tagsMax) return `Tags: ${pairs.length} are given; ${tagsMax} are allowed.`;
  const allowed = /^[A-Za-z0-9 +\-./:=_]*$/;
  for (const [at, [name, value]] of pairs.entries()) {
    if (name === "" || name.length > 128 || !allowed.test(name)) {
      return `Tags name ${at + 1}: “${name}” must be 1 to 128 ${tagLetters}.`;
    }
    if (value.length > 256 || !allowed.test(value)) {
      return `Tags value ${at + 1}: “${value}” must be up to 256 ${tagLetters}.`;
    }
  }
  return undefined;
}

/** Content headers are those in `names`. */
export function headersProblem(
  pairs: readonly Pair[],
  names: readonly string[],
): string | undefined {
  const at = pairs.findIndex(([name]) => !names.includes(name));
  if (at < 0) return undefined;
  return `Header name ${at + 1}: “${pairs[at]?.[0] ?? ""}” must be one of ${names.join(", ")}.`;
}
