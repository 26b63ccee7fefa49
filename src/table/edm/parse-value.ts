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
  type TypedValue,
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

/** Parses the text of a value in JSON, Atom or a filter; undefined if it is malformed. */
export function parseValue(type: EdmType, text: string): TypedValue | undefined {
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
      return parseDateTimeValue(text);
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

function parseBoolean(text: string): TypedValue | undefined {
  const lower = text.trim().toLowerCase();
  if (lower !== "true" && lower !== "false") return undefined;
  return { type: edm.boolean, value: lower === "true" };
}

export function parseInt32(text: string): TypedValue | undefined {
  if (!integerForm.test(text)) return undefined;
  const value = Number(text);
  return value < int32Min || value > int32Max ? undefined : { type: edm.int32, value: value + 0 };
}

export function parseInt64(text: string): TypedValue | undefined {
  if (!integerForm.test(text)) return undefined;
  const value = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return value < int64Min || value > int64Max ? undefined : { type: edm.int64, value };
}

/** Normalises -0 to 0, by adding 0. */
export function parseDouble(text: string): TypedValue | undefined {
  const special = specialDoubles[text];
  if (special !== undefined) return { type: edm.double, value: special };
  if (!doubleForm.test(text)) return undefined;
  return { type: edm.double, value: Number(text) + 0 };
}

function parseDateTimeValue(text: string): TypedValue | undefined {
  const value = parseDateTime(text);
  if (value === undefined || value < earliestTicks) return undefined;
  return { type: edm.dateTime, value };
}
