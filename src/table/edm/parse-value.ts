import { decodeBase64 } from "../../base/base64.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { parseDateTime } from "./date-time.ts";
import {
  earliestTicks,
  edm,
  int32Max,
  int32Min,
  int64Max,
  int64Min,
  type EdmType,
  type Typed,
} from "./edm.ts";

const integerForm = /^[+-]?\d{1,19}$/;
const doubleForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const specialDoubles: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  INF: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "-INF": Number.NEGATIVE_INFINITY,
};

/** A value of this type from its text, the way it stands in JSON, Atom or a filter. */
export function parseValue(type: EdmType, text: string): Typed | undefined {
  switch (type) {
    case edm.string:
      return { type, value: text };
    case edm.boolean:
      return parseBoolean(text);
    case edm.int32:
      return parseInt32(text);
    case edm.int64:
      return parseInt64(text);
    case edm.double:
      return parseDouble(text);
    case edm.dateTime:
      return parseMoment(text);
    case edm.guid: {
      const value = parseGuid(text.trim());
      return value === undefined ? undefined : { type, value };
    }
    case edm.binary: {
      const value = decodeBase64(text);
      return value === undefined ? undefined : { type, value };
    }
  }
}

function parseBoolean(text: string): Typed | undefined {
  const lower = text.trim().toLowerCase();
  if (lower !== "true" && lower !== "false") return undefined;
  return { type: edm.boolean, value: lower === "true" };
}

export function parseInt32(text: string): Typed | undefined {
  if (!integerForm.test(text)) return undefined;
  const value = Number(text);
  return value < int32Min || value > int32Max ? undefined : { type: edm.int32, value: value + 0 };
}

export function parseInt64(text: string): Typed | undefined {
  if (!integerForm.test(text)) return undefined;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value < int64Min || value > int64Max ? undefined : { type: edm.int64, value };
}

/** Minus zero is kept as zero: no client could tell them apart by comparing. */
export function parseDouble(text: string): Typed | undefined {
  const special = specialDoubles[text];
  if (special !== undefined) return { type: edm.double, value: special };
  if (!doubleForm.test(text)) return undefined;
  return { type: edm.double, value: Number(text) + 0 };
}

function parseMoment(text: string): Typed | undefined {
  const value = parseDateTime(text);
  if (value === undefined || value < earliestTicks) return undefined;
  return { type: edm.dateTime, value };
}
