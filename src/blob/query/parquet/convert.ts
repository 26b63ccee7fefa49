import { isUtf8 } from "node:buffer";
import { ticksMax, ticksPerDay, ticksPerSecond, unixEpochTicks } from "../../../base/ticks.ts";
import type { FieldValue } from "../records.ts";
import { ParquetError, type RawValue } from "./page-values.ts";
import type { Column } from "./metadata.ts";

/** Converts stored Parquet values to the values of queries, for `column-cursor.ts`. */

/** Converts a stored Parquet value to the one that a query sees. A timestamp is in ticks; a whole
 *  number that is too large to be exact is a text; bytes are text, or Base64 if they are not
 *  UTF-8. */
export function convert(raw: RawValue, { logical, type }: Column): FieldValue {
  if (type === "int96") return ticksOf(int96Nanoseconds(raw as Uint8Array), 1_000_000_000n);
  switch (logical?.kind) {
    case "timestamp":
      return ticksOf(whole(raw), logical.unitsPerSecond);
    case "date":
      return within(unixEpochTicks + whole(raw) * ticksPerDay);
    case "decimal":
      return decimal(raw instanceof Uint8Array ? bigEndian(raw) : whole(raw), logical.scale);
    case "unsigned":
      return number(unsigned(whole(raw), type === "int64" ? 64n : 32n));
    case "uuid":
      return raw instanceof Uint8Array ? uuid(raw) : plain(raw, false);
    case "float16":
      return raw instanceof Uint8Array ? float16(raw) : plain(raw, false);
    case "text":
      return plain(raw, true);
    case undefined:
      // Some writers do not mark text columns, so bytes that are valid UTF-8 count as text.
      return plain(raw, type === "bytes" && raw instanceof Uint8Array && isUtf8(raw));
  }
}

function plain(raw: RawValue, isText: boolean): FieldValue {
  if (typeof raw === "bigint") return number(raw);
  if (!(raw instanceof Uint8Array)) return raw;
  return Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString(isText ? "utf8" : "base64");
}

function whole(raw: RawValue): bigint {
  if (typeof raw === "bigint") return raw;
  return typeof raw === "number" && Number.isInteger(raw) ? BigInt(raw) : 0n;
}

function unsigned(value: bigint, bits: bigint): bigint {
  return value < 0n ? value + (1n << bits) : value;
}

function number(value: bigint): number | string {
  const converted = Number(value);
  return Number.isSafeInteger(converted) ? converted : String(value);
}

function ticksOf(time: bigint, unitsPerSecond: bigint): bigint {
  const ticks = (time * ticksPerSecond) / unitsPerSecond;
  return within(unixEpochTicks + ticks);
}

function within(ticks: bigint): bigint {
  return ticks < 0n ? 0n : ticks > ticksMax ? ticksMax : ticks;
}

/** Nanoseconds since 1970 of an INT96 timestamp, an old form that writers still use: 8 bytes
 *  nanoseconds of the day, then the Julian day. */
function int96Nanoseconds(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const days = BigInt(view.getUint32(8, true)) - 2_440_588n;
  return days * 86_400_000_000_000n + view.getBigInt64(0, true);
}

/** Longest stored decimal number, against malicious files: 76 digits take 32 bytes. */
const decimalBytesMax = 32;
const scaleMax = 76;

function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length > decimalBytesMax) throw new ParquetError("a decimal number is too long");
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  const isNegative = (bytes[0] ?? 0) >= 0x80;
  return isNegative ? value - (1n << BigInt(bytes.length * 8)) : value;
}

function decimal(unscaled: bigint, scale: number): FieldValue {
  if (scale <= 0) return number(unscaled);
  if (scale > scaleMax) throw new ParquetError("a decimal number has too many digits");
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return Number(unscaled < 0n ? `-${text}` : text);
}

function uuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.*)$/, "$1-$2-$3-$4-$5");
}

function float16([low = 0, high = 0]: Uint8Array): number {
  const sign = high >> 7 === 1 ? -1 : 1;
  const exponent = (high >> 2) & 0x1f;
  const fraction = ((high & 3) << 8) | low;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}
