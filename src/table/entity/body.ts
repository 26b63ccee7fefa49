import { fail, type Result } from "../../protocol/result.ts";
import { readAtomEntity } from "../atom/read-atom.ts";
import { entityBodyBytesMax } from "../edm/limits.ts";
import { readJsonEntity } from "../json/read-entity.ts";
import { malformedEntity, type EntityInput } from "./entity-input.ts";

/** The body of Insert, Update and Merge Entity. Content-Type selects JSON or Atom. */
export const entityBody = {
  kind: "bytes",
  bytesMax: entityBodyBytesMax,
  parse: parseEntity,
} as const;

function parseEntity(bytes: Uint8Array, contentType: string): Result<EntityInput> {
  const text = decodeText(bytes);
  if (text === undefined) return malformedEntity();
  const type = contentType.toLowerCase();
  if (type.includes("xml")) return readAtomEntity(text);
  const isJson = type === "" || type.includes("json");
  return isJson ? readJsonEntity(text) : fail("MediaTypeNotSupported");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Undefined if the bytes are not valid UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
