import type { Param, ParamReader } from "../protocol/params.ts";
import { fail, ok, type Result } from "../protocol/result.ts";

export type MetadataLevel = "nometadata" | "minimalmetadata" | "fullmetadata";
export type Representation = { readonly kind: "json"; readonly level: MetadataLevel } | Atom;
export interface Atom {
  readonly kind: "atom";
}

const atom: Atom = { kind: "atom" };
const minimal: Representation = { kind: "json", level: "minimalmetadata" };
const jsonSince = "2013-08-15";
const atomUntil = "2015-12-11";
const acceptTypesMax = 32;

/** How the answer is written: `$format` outranks `Accept`. Clients older than JSON get Atom, and
 *  nobody gets it any more since 2015-12-11. */
export const representation: Param<Representation> = {
  sources: ["?$format", "Accept"],
  parse: (reader) => {
    const asked = reader.query("$format") ?? reader.header("accept") ?? "";
    return asked.length > settledUnitsMax ? negotiate(asked, reader) : settle(asked, reader);
  },
};

/** A client asks for the same thing every time. */
const settledMax = 256;
const settledUnitsMax = 128;
const settled = new Map<string, Result<Representation>>();

function settle(asked: string, reader: ParamReader): Result<Representation> {
  const key = `${reader.version} ${asked}`;
  const known = settled.get(key);
  if (known !== undefined) return known;
  if (settled.size >= settledMax) settled.clear();
  const chosen = negotiate(asked, reader);
  settled.set(key, chosen);
  return chosen;
}

function negotiate(asked: string, { version }: ParamReader): Result<Representation> {
  let refusal: Result<Representation> = fail("MediaTypeNotSupported");
  if (asked.trim() === "") return ok(defaultFor(version));
  for (const part of asked.split(",", acceptTypesMax)) {
    const [type = "", ...parameters] = part.toLowerCase().split(";");
    const chosen = offer(type.trim(), parameters.join(";"), version);
    if (chosen.ok) return chosen;
    refusal = chosen;
  }
  return refusal;
}

function offer(type: string, parameters: string, version: string): Result<Representation> {
  switch (type) {
    case "json":
    case "application/json": {
      if (version < jsonSince) return fail("JsonFormatNotSupported");
      const level = /odata=(\w+)/.exec(parameters)?.[1] ?? "minimalmetadata";
      if (!isLevel(level)) return fail("MediaTypeNotSupported");
      return ok({ kind: "json", level });
    }
    case "atom":
    case "application/atom+xml":
      return version < atomUntil ? ok(atom) : fail("AtomFormatNotSupported");
    case "application/xml":
      return version < atomUntil ? ok(atom) : ok(minimal);
    case "application/*":
    case "*/*":
      return ok(defaultFor(version));
    default:
      return fail("MediaTypeNotSupported");
  }
}

function isLevel(level: string): level is MetadataLevel {
  return level === "nometadata" || level === "minimalmetadata" || level === "fullmetadata";
}

function defaultFor(version: string): Representation {
  return version < atomUntil ? atom : minimal;
}

/** The level an error or an answer inside a batch is written at. */
export function jsonType(level: MetadataLevel): string {
  return `application/json;odata=${level};streaming=true;charset=utf-8`;
}
