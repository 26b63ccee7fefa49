import { parseGuid } from "../../protocol/guid.ts";
import { edm, type EdmType, type TypedValue } from "../edm/edm.ts";
import { parseDouble, parseInt32, parseInt64, parseValue } from "../edm/parse-value.ts";
import type { Token } from "./tokens.ts";

const prefixes: Readonly<Record<string, EdmType>> = {
  datetime: edm.dateTime,
  guid: edm.guid,
  binary: edm.binary,
  X: edm.binary,
};

/** Parses the literal of a token; undefined if it is malformed. */
export function readLiteral(token: Token): TypedValue | undefined {
  if (token.kind === "string") return { type: edm.string, value: token.text };
  if (token.kind === "number") return readNumber(token.text);
  const type = prefixes[token.prefix];
  if (type === undefined) return undefined;
  if (type === edm.binary) return readHex(token.text);
  if (type === edm.guid) {
    const value = parseGuid(token.text);
    return value === undefined ? undefined : { type, value };
  }
  return parseValue(type, token.text);
}

function readNumber(text: string): TypedValue | undefined {
  if (/[Ll]$/.test(text)) return parseInt64(text.slice(0, -1));
  const plain = text.replace(/[DdFfMm]$/, "");
  if (plain !== text || /[.eE]/.test(plain)) return parseDouble(plain);
  return parseInt32(plain) ?? parseInt64(plain);
}

function readHex(text: string): TypedValue | undefined {
  if (text.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(text)) return undefined;
  return { type: edm.binary, value: new Uint8Array(Buffer.from(text, "hex")) };
}
