import { missingHeader } from "../../protocol/faults.ts";
import { checked, header, integer } from "../../protocol/params.ts";
import type { Param, ParamReader } from "../../protocol/params.ts";
import {
  parseReadRange,
  parseWriteRange,
  type ByteRange,
  type Span,
} from "../../protocol/ranges.ts";
import { fail, ok } from "../../protocol/result.ts";
import { fileBytesMax } from "./limits.ts";

/** The length that a file gets. A negative one has a fault of its own. */
export const fileLength = checked(
  header("x-ms-content-length", integer(-Number.MAX_SAFE_INTEGER, fileBytesMax)),
  (value) => (value !== undefined && value < 0 ? fail("OutOfRangeInput") : ok(value)),
);

/** `x-ms-range` if it is sent, else `Range`. A malformed value means no range: the other header is
 *  not tried. */
export const readRange: Param<ByteRange | undefined> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const text = textOf(reader);
    return ok(text === undefined ? undefined : parseReadRange(text));
  },
};

/** The range to write: `x-ms-range` if it is sent, else `Range`. A missing or malformed range is a
 *  fault. */
export const writeRange: Param<Span> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const text = textOf(reader);
    return text === undefined ? missingHeader("Range") : parseWriteRange("Range", text);
  },
};

function textOf(reader: ParamReader): string | undefined {
  return reader.header("x-ms-range") || reader.header("range") || undefined;
}
