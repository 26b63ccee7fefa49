import { invalidHeader } from "../../protocol/faults.ts";
import { header, integer, oneOf, type Param } from "../../protocol/params.ts";
import { pageBytes, parsePageRange, type Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { missingHeader } from "../../protocol/faults.ts";
import type { BlobRecord } from "../records.ts";
import { pageBlobBytesMax } from "../shared/limits.ts";

/** Limit of the service. */
export const sequenceNumberMax = 2n ** 63n - 1n;

export const pageTier = header(
  "x-ms-access-tier",
  oneOf("P4", "P6", "P10", "P15", "P20", "P30", "P40", "P50", "P60", "P70", "P80"),
);

const anyLength = integer(0, pageBlobBytesMax);

/** `x-ms-blob-content-length`: a multiple of 512, up to 8 TiB. */
export const pageBlobLength = header("x-ms-blob-content-length", (text) => {
  const length = anyLength(text);
  return length === undefined || !isPageBlobLength(length) ? undefined : length;
});

export function isPageBlobLength(length: number): boolean {
  return length <= pageBlobBytesMax && length % pageBytes === 0;
}

export const sequenceNumber = header("x-ms-blob-sequence-number", parseSequenceNumber);

export function parseSequenceNumber(text: string): bigint | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined;
  const number = BigInt(text);
  return number <= sequenceNumberMax ? number : undefined;
}

/** The range of a write: `x-ms-range`, otherwise `Range`; one of them is required. */
export const pageRange: Param<Span> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const own = reader.header("x-ms-range");
    const text = own ?? reader.header("range");
    if (text === undefined) return missingHeader("Range");
    return parsePageRange(own === undefined ? "Range" : "x-ms-range", text);
  },
};

/** Conditions on the sequence number of a page blob; undefined if not sent. */
export interface SequenceConditions {
  readonly atMost: bigint | undefined;
  readonly below: bigint | undefined;
  readonly equal: bigint | undefined;
}

const sequenceHeaders = {
  atMost: "x-ms-if-sequence-number-le",
  below: "x-ms-if-sequence-number-lt",
  equal: "x-ms-if-sequence-number-eq",
} as const;

/** The sequence number conditions of a request. `negative` is the fault code of a negative number,
 *  in which Put Page and Put Page From URL differ (recorded). */
export function sequenceConditions(negative: "InvalidInput" | "InvalidHeaderValue") {
  const param: Param<SequenceConditions> = {
    sources: Object.values(sequenceHeaders),
    parse: (reader) => {
      const found: Record<string, bigint> = {};
      for (const [field, name] of Object.entries(sequenceHeaders)) {
        const text = reader.header(name);
        if (text === undefined || text === "") continue;
        const number = parseSequenceNumber(text);
        if (number === undefined) {
          const isNegative = negative === "InvalidInput" && /^-\d+$/.test(text);
          return isNegative ? fail("InvalidInput") : invalidHeader(name, text);
        }
        found[field] = number;
      }
      return ok({ atMost: found["atMost"], below: found["below"], equal: found["equal"] });
    },
  };
  return param;
}

export function checkSequence(
  { type, sequenceNumber: current = 0n }: BlobRecord,
  { atMost, below, equal }: SequenceConditions,
): Result<undefined> {
  if (type !== "PageBlob") return fail("InvalidBlobType");
  const met =
    (atMost === undefined || current <= atMost) &&
    (below === undefined || current < below) &&
    (equal === undefined || current === equal);
  return met ? ok(undefined) : fail("SequenceNumberConditionNotMet");
}
