import { parseGuid } from "../../core/guid.ts";
import { ticksPerMillisecond, ticksToUnixMilliseconds, type Ticks } from "../../core/ticks.ts";

const millisecondDigits = 12;
const fractionSteps = 4096n;
const fractionDigits = 3;
const versionDigit = "7";

/**
 * A version 7 GUID: milliseconds, a fraction of one in twelve bits, and what is random in a version
 * 4 GUID. Messages put one after the other lie side by side in the store.
 */
export function newMessageId(now: Ticks, randomGuid: string): string {
  const milliseconds = ticksToUnixMilliseconds(now).toString(16).padStart(millisecondDigits, "0");
  const fraction = ((now % ticksPerMillisecond) * fractionSteps) / ticksPerMillisecond;
  const steps = fraction.toString(16).padStart(fractionDigits, "0");
  const time = `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`;
  return `${time}-${versionDigit}${steps}${randomGuid.slice(18)}`;
}

/** In the canonical form of ids that the service gives out; anything else names no message. */
export function parseMessageId(text: string): string | undefined {
  return parseGuid(text);
}

export function bytesOfMessageId(id: string): Uint8Array {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

export function messageIdOfBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join("-")}-${hex.slice(20)}`;
}
