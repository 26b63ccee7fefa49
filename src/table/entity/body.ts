import { fail, type Result } from "../../core/result.ts";
import { readAtomEntity } from "../atom/read-atom.ts";
import { entityBodyBytesMax } from "../edm/limits.ts";
import { readJsonEntity } from "../json/read-entity.ts";
import { unreadable, type EntityInput } from "./entity-input.ts";

/** The body of every write of an entity, JSON or Atom by its type. */
export const entityBody = {
  kind: "bytes",
  bytesMax: entityBodyBytesMax,
  parse: parseEntity,
} as const;

function parseEntity(bytes: Uint8Array, contentType: string): Result<EntityInput> {
  const text = decodeText(bytes);
  if (text === undefined) return unreadable();
  const type = contentType.toLowerCase();
  if (type.includes("xml")) return readAtomEntity(text);
  const isJson = type === "" || type.includes("json");
  return isJson ? readJsonEntity(text) : fail("MediaTypeNotSupported");
}

const decoder = new TextDecoder("utf-8", { fatal: true });
/** Most bodies are short and plain: up to here looking at each byte beats the decoder. */
const plainBytesMax = 512;

export function decodeText(bytes: Uint8Array): string | undefined {
  if (Buffer.isBuffer(bytes) && isPlain(bytes)) return bytes.toString("latin1");
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function isPlain(bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length > plainBytesMax) return false;
  for (let at = 0; at < length; at += 1) if (bytes[at]! >= 0x80) return false;
  return true;
}
