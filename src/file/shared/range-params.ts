import { missingHeader } from "../../protocol/faults.ts";
import type { Param, ParamReader } from "../../protocol/params.ts";
import {
  parseReadRange,
  parseWriteRange,
  type ByteRange,
  type Span,
} from "../../protocol/ranges.ts";
import { ok } from "../../protocol/result.ts";

/** `x-ms-range` wins over `Range`; a malformed one is ignored. */
export const readRange: Param<ByteRange | undefined> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const text = textOf(reader);
    return ok(text === undefined ? undefined : parseReadRange(text));
  },
};

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
