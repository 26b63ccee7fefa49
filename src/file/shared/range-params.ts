import { missingHeader } from "../../protocol/faults.ts";
import type { Param, ParamReader } from "../../protocol/params.ts";
import {
  parseReadRange,
  parseWriteRange,
  type ByteRange,
  type Span,
} from "../../protocol/ranges.ts";
import { ok } from "../../protocol/result.ts";

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
