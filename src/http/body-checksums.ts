import { decodeBase64 } from "../base/base64.ts";
import { md5Of } from "../content/checksums.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import { crc64BytesOf } from "../content/crc64.ts";
import type { BodySpec } from "../operation/operation.ts";
import { invalidHeader } from "../protocol/faults.ts";
import { fail, ok } from "../protocol/result.ts";
import type { Result } from "../protocol/result.ts";
import { crc64Since } from "../protocol/versions.ts";
import type { WireRequest } from "./wire.ts";

/** The checksums that a request sends; undefined if absent. */
export interface Checksums {
  readonly md5: Uint8Array | undefined;
  readonly crc64: Uint8Array | undefined;
}

const md5Bytes = 16;
const crc64Length = 8;
const passed = ok(undefined);
const noChecksums = ok<Checksums>({ md5: undefined, crc64: undefined });

/** Whether the MD5 of a body is computed: a response contains it if the client sent one, or if the
 *  version has no CRC64. */
export function needsMd5({ md5 }: Checksums, version: string): boolean {
  return md5 !== undefined || version < crc64Since;
}

/** The checksums of a body that a response contains or that are compared. */
export function checksumsOf(bytes: Uint8Array, expected: Checksums, version: string): ReceivedBody {
  const crc64 = crc64BytesOf(bytes);
  const base = { length: bytes.length, pieces: [], crc64 };
  return needsMd5(expected, version) ? { ...base, md5: md5Of(bytes) } : base;
}

/** The checksums that the headers contain. */
export function readChecksums(
  { headers }: WireRequest,
  spec: BodySpec<unknown>,
): Result<Checksums> {
  const sent = parseChecksums(headers["content-md5"], headers["x-ms-content-crc64"]);
  const own = spec.kind === "content" && spec.md5Header ? headers[spec.md5Header] : undefined;
  if (!own || !sent.ok) return sent;
  // This header sets a property of the blob, so it may be combined with a CRC64 of the body.
  const named = parseChecksums(own, undefined);
  return named.ok ? ok({ ...sent.value, md5: named.value.md5 }) : named;
}

export function parseChecksums(
  md5Text: string | undefined,
  crc64Text: string | undefined,
): Result<Checksums> {
  if (md5Text !== undefined && crc64Text !== undefined) return fail("BothCrc64AndMd5HeaderPresent");
  const md5 = md5Text === undefined ? undefined : decodeBase64(md5Text);
  if (md5Text !== undefined && md5?.length !== md5Bytes) return fail("InvalidMd5");
  const crc64 = crc64Text === undefined ? undefined : decodeBase64(crc64Text);
  if (crc64Text !== undefined && crc64?.length !== crc64Length) {
    return invalidHeader("x-ms-content-crc64", crc64Text);
  }
  return md5 === undefined && crc64 === undefined ? noChecksums : ok({ md5, crc64 });
}

export function compare(expected: Checksums, actual: ReceivedBody): Result<void> {
  if (expected.md5 !== undefined && !same(expected.md5, actual.md5)) {
    return mismatch("Md5Mismatch", "Md5", expected.md5, actual.md5);
  }
  if (expected.crc64 !== undefined && !same(expected.crc64, actual.crc64)) {
    return mismatch("Crc64Mismatch", "Crc", expected.crc64, actual.crc64);
  }
  return passed;
}

function same(left: Uint8Array, right: Uint8Array | undefined): boolean {
  return right !== undefined && Buffer.compare(left, right) === 0;
}

function mismatch(
  code: "Md5Mismatch" | "Crc64Mismatch",
  kind: "Md5" | "Crc",
  given: Uint8Array,
  computed: Uint8Array | undefined,
): Result<never> {
  const base64 = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("base64");
  const elements = {
    [`UserSpecified${kind}`]: base64(given),
    [`ServerCalculated${kind}`]: base64(computed),
  };
  return fail(code, { elements });
}
