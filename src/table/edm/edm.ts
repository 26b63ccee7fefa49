import { fileTimeStart, ticksMax, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { memo } from "../../process/memo.ts";
import { formatIso, parseIso } from "../../base/dates.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { decodeBase64 } from "../../base/base64.ts";
import { parseGuid } from "../../protocol/guid.ts";

/** The property types of entities (the Entity Data Model of OData) with their limits, and the text
 *  forms of values. Shared by the JSON and Atom formats, filters and the stored format. */

/** The types of properties by their number in stored entities, which must therefore never
 *  change. */
export const edm = {
  string: 0,
  boolean: 1,
  int32: 2,
  int64: 3,
  double: 4,
  dateTime: 5,
  guid: 6,
  binary: 7,
} as const;

export type EdmType = (typeof edm)[keyof typeof edm];

/** The OData names of the types, by their number in `edm`. */
export const edmNames = [
  "Edm.String",
  "Edm.Boolean",
  "Edm.Int32",
  "Edm.Int64",
  "Edm.Double",
  "Edm.DateTime",
  "Edm.Guid",
  "Edm.Binary",
] as const;

/** The value of a property. Int64 is a bigint, DateTime the bigint of its ticks (100 ns), Guid its
 *  lower-case text with dashes, Binary the bytes. */
export type EdmValue = string | boolean | number | bigint | Uint8Array;

export type TypedValue =
  | { readonly type: typeof edm.string | typeof edm.guid; readonly value: string }
  | { readonly type: typeof edm.boolean; readonly value: boolean }
  | { readonly type: typeof edm.int32 | typeof edm.double; readonly value: number }
  | { readonly type: typeof edm.int64 | typeof edm.dateTime; readonly value: bigint }
  | { readonly type: typeof edm.binary; readonly value: Uint8Array };

/** A property of an entity. Properties are lists of these arrays, not objects with the names as
 *  keys: clients choose the names, also `__proto__`. */
export type Property = readonly [name: string, type: EdmType, value: EdmValue];

export function edmTypeOf(name: string): EdmType | undefined {
  const index = (edmNames as readonly string[]).indexOf(name);
  return index < 0 ? undefined : (index as EdmType);
}

const int32Min = -2_147_483_648;
const int32Max = 2_147_483_647;
const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/** An ISO 8601 time without a time zone. */
const withoutZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?$/;

/** The Java client library sends nanoseconds, which are nine digits after the point. */
const fractionDigitsMax = 9;
const longFraction = new RegExp(`^(.{19}\\.\\d{7})(\\d{1,${fractionDigitsMax - 7}})(.*)$`);

/** Parses an ISO 8601 time to ticks of 100 ns; undefined if it is malformed. Further digits are
 *  rounded, a half to the even number. A time without a zone is UTC (recorded from Azure). */
export function parseDateTime(text: string): Ticks | undefined {
  const trimmed = text.trim();
  const [, sevenDigits, furtherDigits = "", zone = ""] = longFraction.exec(trimmed) ?? [];
  if (sevenDigits === undefined) return parseTicks(trimmed);
  const ticks = parseTicks(sevenDigits + zone);
  const rounded = ticks === undefined ? undefined : ticks + roundingTicks(furtherDigits, ticks);
  return rounded === undefined || rounded > ticksMax ? undefined : rounded;
}

function parseTicks(text: string): Ticks | undefined {
  return parseIso(withoutZone.test(text) ? `${text}Z` : text);
}

/** 1 if the digits after the seventh round `ticks` up, else 0. */
function roundingTicks(furtherDigits: string, ticks: Ticks): Ticks {
  const fraction = Number(`0.${furtherDigits}`);
  if (fraction === 0.5) return ticks % 2n;
  return fraction > 0.5 ? 1n : 0n;
}

/** A time without fraction. Cached: entities of a page often have Timestamps in one second. */
const textOfSecond = memo(1024, (second: number) =>
  formatIso(BigInt(second) * ticksPerSecond).slice(0, "0000-00-00T00:00:00".length),
);

/** Formats a time as the service does: without trailing zeros of the fraction. */
export function formatDateTime(ticks: Ticks): string {
  const text = textOfSecond(Number(ticks / ticksPerSecond));
  const fraction = Number(ticks % ticksPerSecond);
  if (fraction === 0) return `${text}Z`;
  const digits = String(10_000_000 + fraction);
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end -= 1;
  return `${text}.${digits.slice(1, end)}Z`;
}

/** Azure's limit of the properties of an entity, without PartitionKey, RowKey and Timestamp. */
export const propertiesMax = 252;
/** Azure's limit of a property name, in UTF-16 code units. */
const propertyNameUnitsMax = 255;
/** Azure's limit of a property value; a string counts 2 bytes per UTF-16 code unit. */
const valueBytesMax = 64 * 1024;
/** Azure's limit of a PartitionKey or RowKey, in UTF-16 code units. */
export const keyUnitsMax = 512;
/** Azure's limit of the size of an entity, which `checkEntity` computes. */
const entityBytesMax = 1024 * 1024;
/** Limit of a request body with one entity, with the syntax and escapes of JSON. */
export const entityBodyBytesMax = 4 * 1024 * 1024;

const passed = ok(undefined);

/** Property names are C# identifiers. Most are ASCII, so `asciiIdentifierPattern`, which is
 *  cheaper, is tested first. */
const identifierPattern = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u;
const asciiIdentifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function checkPropertyName(name: string): Result<undefined> {
  if (name.length > propertyNameUnitsMax) return fail("PropertyNameTooLong");
  if (asciiIdentifierPattern.test(name) || identifierPattern.test(name)) return passed;
  return fail("PropertyNameInvalid");
}

// eslint-disable-next-line no-control-regex -- the service rejects exactly these
const forbiddenInKey = /[/\\#?\u0000-\u001F\u007F-\u009F]/;

export function checkKey(which: "PartitionKey" | "RowKey", key: string): Result<undefined> {
  if (key.length > keyUnitsMax) return fail("KeyValueTooLarge");
  if (!forbiddenInKey.test(key)) return passed;
  const message = `The '${which}' parameter of value '${key}' is out of range.`;
  return fail("OutOfRangeInput", { message });
}

export function checkValue(type: EdmType, value: EdmValue): Result<undefined> {
  return valueBytes(type, value) > valueBytesMax ? fail("PropertyValueTooLarge") : passed;
}

/** Checks number of properties and size of an entity before it is written. The service's formula:
 *  learn.microsoft.com/rest/api/storageservices/understanding-the-table-service-data-model */
export function checkEntity(
  { partitionKey, rowKey }: { readonly partitionKey: string; readonly rowKey: string },
  properties: readonly Property[],
): Result<undefined> {
  if (properties.length > propertiesMax) return fail("TooManyProperties");
  let bytes = 4 + (partitionKey.length + rowKey.length) * 2;
  for (const [name, type, value] of properties) {
    bytes += 8 + name.length * 2 + valueBytes(type, value);
  }
  return bytes > entityBytesMax ? fail("EntityTooLarge") : passed;
}

function valueBytes(type: EdmType, value: EdmValue): number {
  switch (type) {
    case edm.string:
      return (value as string).length * 2;
    case edm.binary:
      return (value as Uint8Array).length;
    case edm.guid:
      return 16;
    case edm.boolean:
      return 1;
    case edm.int32:
      return 4;
    case edm.int64:
    case edm.double:
    case edm.dateTime:
      return 8;
  }
}

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

/** Parses a Double. Adding 0 normalises -0 to 0. */
export function parseDouble(text: string): TypedValue | undefined {
  const special = specialDoubles[text];
  if (special !== undefined) return { type: edm.double, value: special };
  if (!doubleForm.test(text)) return undefined;
  return { type: edm.double, value: Number(text) + 0 };
}

function parseDateTimeValue(text: string): TypedValue | undefined {
  const value = parseDateTime(text);
  if (value === undefined || value < fileTimeStart) return undefined;
  return { type: edm.dateTime, value };
}
