/** A number keeps its text: `1.0` is a Double, `1` an Int32, and neither may lose digits. */
export interface JsonNumber {
  readonly number: string;
}

export type JsonScalar = string | boolean | null | JsonNumber;
export type JsonMember = readonly [name: string, value: JsonScalar];

/** Annotations double the members; a body with more is not worth reading. */
export const jsonMembersMax = 2_000;

/** One object of scalars: all that an entity or a table may be. Undefined if it is anything else;
 *  members that come twice are all there. */
export function parseFlatJson(text: string): readonly JsonMember[] | undefined {
  const reader: Reader = { text, at: text.startsWith("\uFEFF") ? 1 : 0 };
  if (!take(reader, "{")) return undefined;
  const members: JsonMember[] = [];
  if (!take(reader, "}")) {
    do {
      skipBlanks(reader);
      const name = readString(reader);
      if (name === undefined || !take(reader, ":")) return undefined;
      const value = readScalar(reader);
      if (value === undefined || members.length >= jsonMembersMax) return undefined;
      members.push([name, value]);
    } while (take(reader, ","));
    if (!take(reader, "}")) return undefined;
  }
  skipBlanks(reader);
  return reader.at === text.length ? members : undefined;
}

interface Reader {
  readonly text: string;
  at: number;
}

function skipBlanks(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const code = text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.at += 1;
  }
}

function take(reader: Reader, mark: string): boolean {
  skipBlanks(reader);
  if (reader.text[reader.at] !== mark) return false;
  reader.at += 1;
  return true;
}

const scalarForm = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function readScalar(reader: Reader): JsonScalar | undefined {
  skipBlanks(reader);
  if (reader.text[reader.at] === '"') return readString(reader);
  scalarForm.lastIndex = reader.at;
  const found = scalarForm.exec(reader.text)?.[0];
  if (found === undefined) return undefined;
  reader.at += found.length;
  if (found === "null") return null;
  return found === "true" || found === "false" ? found === "true" : { number: found };
}

// eslint-disable-next-line no-control-regex -- JSON allows none of them inside a string
const controls = /[\u0000-\u001F]/;

function readString(reader: Reader): string | undefined {
  const { text, at } = reader;
  if (text[at] !== '"') return undefined;
  let end = text.indexOf('"', at + 1);
  while (end >= 0 && isEscaped(text, end, at)) end = text.indexOf('"', end + 1);
  if (end < 0) return undefined;
  reader.at = end + 1;
  const inner = text.slice(at + 1, end);
  if (controls.test(inner)) return undefined;
  return inner.includes("\\") ? unescape(text.slice(at, end + 1)) : inner;
}

/** An odd number of backslashes in front of a quote takes its meaning away. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let count = 0;
  while (quote - 1 - count > start && text[quote - 1 - count] === "\\") count += 1;
  return count % 2 === 1;
}

function unescape(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
