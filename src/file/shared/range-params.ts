import { missingHeader } from "../../protocol/faults.ts";
import { checked, header, integer, type Param, type ParamReader } from "../../protocol/params.ts";
import {
  parseReadRange,
  parseWriteRange,
  type ByteRange,
  type Span,
} from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { fileBytesMax } from "./limits.ts";
import type { CopySource } from "../../operation/source.ts";
import type { RecordView } from "../../operation/view.ts";
import type { NodeRecord } from "../records.ts";
import type { FileAddress } from "../file-address.ts";
import { resources, type NodeScope } from "../resources.ts";

/** Parameters of REST requests about ranges and lengths, and the source of a copy or rename. */

/** `x-ms-content-length`: the length that a file gets. A negative one has a fault of its own. */
export const fileLength = checked(
  header("x-ms-content-length", integer(-Number.MAX_SAFE_INTEGER, fileBytesMax)),
  (value) => (value !== undefined && value < 0 ? fail("OutOfRangeInput") : ok(value)),
);

/** The range to read: `x-ms-range` if it is sent, else `Range`. A malformed value means no range:
 *  the other header is not tried. */
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

/** The source of a copy or rename, if it is in the File service of this server. */
export interface LocalSource {
  readonly scope: NodeScope;
  readonly node: NodeRecord;
}

/** Loads the source of a copy or rename if it is in the File service of this server, after checking
 *  that the caller may read it. Undefined for any other source, or none. `keepsTrailingDots`:
 *  whether the names in the path of the source keep dots at their end. */
export async function loadLocalSource(
  view: RecordView,
  source: CopySource | undefined,
  { keepsTrailingDots = false }: { readonly keepsTrailingDots: boolean | undefined },
): Promise<Result<LocalSource> | undefined> {
  if (source?.kind !== "same-service") return undefined;
  const address = source.address as FileAddress;
  if (address.resource === "service") return fail("InvalidUri");
  const where = { account: source.account, address, input: { keepsTrailingDots } };
  const located = await resources.entry.load(view, where);
  const allowed = source.authorise(located.access);
  if (!allowed.ok) return allowed;
  if (!located.scope.ok) {
    // A missing directory means that the source does not exist. A missing share has its own fault.
    const { code } = located.scope.fault;
    return code === "ParentNotFound" ? fail("ResourceNotFound") : located.scope;
  }
  const node = located.target as NodeRecord | undefined;
  if (node === undefined) return fail("ResourceNotFound");
  return ok({ scope: located.scope.value as NodeScope, node });
}
