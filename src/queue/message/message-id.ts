import { parseGuid } from "../../protocol/guid.ts";
import { ticksPerMillisecond, ticksToUnixMilliseconds, type Ticks } from "../../base/ticks.ts";

const millisecondDigits = 12;
const fractionSteps = 4096;
const ticksPerFraction = Number(ticksPerMillisecond) / fractionSteps;
const fractionDigits = 3;
const versionDigit = "7";

/** Ids of moments at least this far apart have the order of the moments. */
export const messageIdTicksMin = BigInt(Math.ceil(ticksPerFraction));

/**
 * A version 7 GUID: milliseconds, a fraction of one in twelve bits, and what is random in a version
 * 4 GUID. Messages put one after the other lie side by side in the store.
 */
export function newMessageId(now: Ticks, randomGuid: string): string {
  const milliseconds = ticksToUnixMilliseconds(now).toString(16).padStart(millisecondDigits, "0");
  const fraction = Math.floor(Number(now % ticksPerMillisecond) / ticksPerFraction);
  const steps = fraction.toString(16).padStart(fractionDigits, "0");
  const time = `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`;
  return `${time}-${versionDigit}${steps}${randomGuid.slice(18)}`;
}

/** In the canonical form of ids that the service gives out; anything else names no message. */
export function parseMessageId(text: string): string | undefined {
  return parseGuid(text);
}

const idBytes = 16;
const dash = 0x2d;
const nine = 0x39;
const zero = 0x30;
const ten = 0x61 - 10;

/** Every request makes several keys of one id. */
let latestId = "";
let latestBytes = new Uint8Array(0);

/** Of the canonical form; not to be changed. */
export function bytesOfMessageId(id: string): Uint8Array {
  if (id !== latestId) {
    latestBytes = parsedBytes(id);
    latestId = id;
  }
  return latestBytes;
}

function parsedBytes(id: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(idBytes);
  let at = 0;
  for (let index = 0; index < id.length; index += 2) {
    if (id.charCodeAt(index) === dash) index += 1;
    bytes[at] = (digitOf(id.charCodeAt(index)) << 4) | digitOf(id.charCodeAt(index + 1));
    at += 1;
  }
  return bytes;
}

function digitOf(code: number): number {
  return code > nine ? code - ten : code - zero;
}

export function messageIdOfBytes(bytes: Uint8Array): string {
  const hex = hexSlice.call(bytes);
  const time = `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
  return `${time}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Works on any bytes, without wrapping them first. */
const { hexSlice } = Buffer.prototype as unknown as {
  readonly hexSlice: (this: Uint8Array) => string;
};
