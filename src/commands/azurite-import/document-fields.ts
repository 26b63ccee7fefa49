import { parseIso } from "../../base/dates.ts";
import { infiniteLeaseSeconds, type Lease } from "../../protocol/lease.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { validPairs, type Metadata } from "../../protocol/metadata.ts";
import type { StoredPolicy } from "../../protocol/permission.ts";
import { ticksFromUnixMilliseconds, type Ticks } from "../../base/ticks.ts";
import type { ExtentChunk } from "./azurite-folder.ts";
import { ImportRefused } from "../../host/refused.ts";

/** The fields of a document in a database of Azurite. The functions of this file read them one by
 *  one, with checks: users may have edited the file. */
export type Fields = Readonly<Record<string, unknown>>;

const policiesMax = 5;

/** The fields of an object; none if the value is no object. */
export function fieldsOf(value: unknown): Fields {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Characters that an HTTP header value cannot contain. */
const unsendableForm = /[^\t\x20-\x7e\x80-\xff]/;

/** A text that responses return in a header. Throws `ImportRefused` if it cannot be sent. */
export function headerTextOf(fields: Fields, name: string): string | undefined {
  const text = textOf(fields[name]);
  if (text === undefined || !unsendableForm.test(text)) return text;
  throw new ImportRefused([`${JSON.stringify(name)} has characters that no header may contain`]);
}

/** Throws `ImportRefused`, which names the field, if it is absent or not a string. */
export function requiredText(fields: Fields, name: string): string {
  const value = textOf(fields[name]);
  if (value === undefined) throw new ImportRefused([`a document lacks "${name}"`]);
  return value;
}

export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Parses an ISO time or milliseconds since 1970; Azurite writes both. */
export function ticksOf(value: unknown): Ticks | undefined {
  if (typeof value === "string") return parseIso(value);
  const milliseconds = countOf(value);
  return milliseconds === undefined ? undefined : ticksFromUnixMilliseconds(milliseconds);
}

export function chunkOf(value: unknown): ExtentChunk {
  const fields = fieldsOf(value);
  const id = textOf(fields["id"]);
  const offset = countOf(fields["offset"]);
  const count = countOf(fields["count"]);
  if (id === undefined || offset === undefined || count === undefined) {
    throw new ImportRefused(["a document has no location of its bytes"]);
  }
  return { id, offset, count };
}

export function metadataOf(value: unknown): Metadata {
  const fields = fieldsOf(value);
  const pairs = Object.keys(fields).flatMap((name) => {
    const text = headerTextOf(fields, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return validPairs(pairs);
}

/** LokiJS writes a Buffer as `{ type: "Buffer", data: […] }`, other bytes as `{ "0": … }`. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (typeof value === "string") return new Uint8Array(Buffer.from(value, "base64"));
  const fields = fieldsOf(value);
  const list = Array.isArray(fields["data"]) ? fields["data"] : Object.values(fields);
  const isBytes = list.every((byte) => typeof byte === "number" && byte >= 0 && byte <= 255);
  return list.length > 0 && isBytes ? Uint8Array.from(list as number[]) : undefined;
}

export function policiesOf(value: unknown): readonly StoredPolicy[] {
  return listOf(value)
    .slice(0, policiesMax)
    .flatMap((entry) => {
      const { id, accessPolicy } = fieldsOf(entry);
      const { start, expiry, permission } = fieldsOf(accessPolicy);
      if (typeof id !== "string" || id === "") return [];
      const term = { start: ticksOf(start), expiry: ticksOf(expiry) };
      return [{ id, ...term, permission: textOf(permission) }];
    });
}

/** A lease keeps its id, state and times; a time that is missing becomes `now`. */
export function leaseOf(document: Fields, now: Ticks): Lease | undefined {
  const { leaseState: state } = fieldsOf(document["properties"]);
  const id = parseGuid(textOf(document["leaseId"]) ?? "");
  if (id === undefined || state === undefined || state === "available") return undefined;
  const expiresAt = ticksOf(document["leaseExpireTime"]);
  const seconds = countOf(document["leaseDurationSeconds"]);
  const isFixed = seconds !== undefined && seconds > 0;
  const durationSeconds = isFixed ? seconds : infiniteLeaseSeconds;
  const fixed = isFixed ? { expiresAt: expiresAt ?? now } : {};
  if (state === "leased" || state === "expired") return { id, durationSeconds, ...fixed };
  return { id, durationSeconds, ...fixed, breaksAt: ticksOf(document["leaseBreakTime"]) ?? now };
}
