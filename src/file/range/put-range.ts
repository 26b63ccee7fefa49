import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { emptyContent, type ReceivedBody, inlinePartBytesMax } from "../../content/content-ref.ts";
import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { copySource } from "../../protocol/named-resource.ts";
import type { RecordView } from "../../operation/view.ts";
import { header, oneOf } from "../../protocol/params.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { writeAccess } from "../locks/file-access.ts";
import type { NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { isReadOnly, serverEncrypted } from "../shared/smb-properties.ts";
import { rangeBytesMax } from "../shared/limits.ts";
import { updateNode } from "../shared/node-replies.ts";
import { clearBytes, coveredBytes, writeBytes, type WrittenFile } from "./write-rules.ts";
import { writeRange } from "../shared/range-params.ts";

/** Put Range in its three forms: with bytes, with bytes from a URL, and to clear a range. */

/** Whether the write sets the last write time (`now`, the default) or not (`preserve`). */
const keepsLastWrite = header("x-ms-file-last-write-time", oneOf("now", "preserve"));

interface RangeInput {
  readonly range: Span;
  readonly keepsLastWrite: "now" | "preserve" | undefined;
}

interface RangeTarget {
  readonly target: NodeRecord;
  readonly input: RangeInput;
}

/** What the declarations of the three forms have in common. `readResult` of their decisions is the
 *  number of bytes in the range that were written before, which count against the quota already. */
const rangeWrite = {
  params: { range: writeRange, keepsLastWrite },
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "renew",
  fileAccess: {
    ...writeAccess,
    range: ({ range }: RangeInput) => byteSpan(range.from, range.length),
  },
  reads: readCovered,
} as const;

function readCovered(view: RecordView, { target, input }: RangeTarget): Promise<number> {
  return coveredBytes(view, target, input.range);
}

/** Rejects a write to a read-only file, and one beyond the end of the file. */
function checkRange(target: NodeRecord, range: Span): Result<void> {
  if (isReadOnly(target)) return fail("ReadOnlyAttribute");
  const { content = emptyContent } = target;
  return range.from + range.length > content.length ? fail("InvalidRange") : ok(undefined);
}

interface WriteContext extends RangeTarget {
  readonly scope: NodeScope;
  readonly received: ReceivedBody;
  readonly newETag: Ticks;
  readonly version: string;
  readonly readResult: number;
}

/** The reply that writes the received bytes, with the checksum headers of the response. */
function writeReply<H extends object>(context: WriteContext, checksum: H) {
  const { target: node, input, received, newETag, readResult: covered } = context;
  const { range, keepsLastWrite: lastWrite } = input;
  const written = writeBytes({ node, at: range.from, received, covered, newETag, lastWrite });
  const reply = changeReply(context, written);
  return { ...reply, headers: [checksum, serverEncrypted, reply.headers] };
}

function changeReply({ scope, target, version }: WriteContext, written: WrittenFile) {
  const { lastWrite } = written.next;
  return {
    ...updateNode(scope, { target, ...written }),
    headers: {
      "x-ms-file-last-write-time": version >= "2021-06-08" ? formatIso(lastWrite) : undefined,
    },
  };
}

/** Writes bytes inside the file; the file does not grow.
 *  learn.microsoft.com/rest/api/storageservices/put-range */
export const putRange = fileOperation({
  ...rangeWrite,
  name: "Put Range",
  ids: ["File_UploadRange"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "range" },
    headers: { "x-ms-write": "update", "x-ms-copy-source": false },
  },
  body: {
    kind: "content",
    lengthMax: () => rangeBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: true,
    nonEmpty: true,
  },
  event: "PutRange",
  status: 201,
  freedBytes: readCovered,
  decide: (context) => {
    const { target, input, received } = context;
    if (received.length !== input.range.length) {
      return invalidHeader("Content-Length", String(received.length));
    }
    const writable = checkRange(target, input.range);
    if (!writable.ok) return writable;
    return writeReply(context, { "Content-MD5": received.md5 && encodeBase64(received.md5) });
  },
});

/** Put Range with `x-ms-write: clear`: frees whole sectors and writes zeros into partial ones. */
export const clearRange = fileOperation({
  ...rangeWrite,
  name: "Put Range",
  ids: ["File_UploadRange"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "range" },
    headers: { "x-ms-write": "clear" },
  },
  event: "ClearRange",
  status: 201,
  decide: (context) => {
    const { target: node, scope, input, newETag, readResult: covered } = context;
    const { range: span, keepsLastWrite: lastWrite } = input;
    const writable = checkRange(node, span);
    if (!writable.ok) return writable;
    if (span.length <= 0) return fail("InvalidRange");
    const { share } = scope;
    return changeReply(context, clearBytes({ share, node, span, covered, newETag, lastWrite }));
  },
});

const crc64Bytes = 8;

/** Parses the CRC64 that the client sends of the bytes, in base64; undefined if it is malformed. */
function parseCrc64(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes?.length === crc64Bytes ? bytes : undefined;
}

/** Put Range with bytes that the server reads from a URL.
 *  learn.microsoft.com/rest/api/storageservices/put-range-from-url */
export const putRangeFromUrl = fileOperation({
  ...rangeWrite,
  name: "Put Range From URL",
  ids: ["File_UploadRangeFromURL"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "range" },
    headers: { "x-ms-write": "update", "x-ms-copy-source": true },
  },
  since: "2019-02-02",
  params: {
    range: writeRange,
    ifMatch: header("x-ms-source-if-match-crc64", parseCrc64),
    ifNoneMatch: header("x-ms-source-if-none-match-crc64", parseCrc64),
    keepsLastWrite,
  },
  body: {
    kind: "source",
    lengthMax: () => rangeBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    style: "range-from-url",
    range: "x-ms-source-range",
    md5Always: false,
  },
  namedResources: [copySource],
  event: "PutRangeFromURL",
  status: 201,
  decide: (context) => {
    const { target, input, received } = context;
    const { range, ifMatch, ifNoneMatch } = input;
    const writable = checkRange(target, range);
    if (!writable.ok) return writable;
    if (received.length !== range.length) {
      return invalidHeader("x-ms-source-range", String(received.length));
    }
    const sum = received.crc64 && encodeBase64(received.crc64);
    const differs = ifMatch !== undefined && encodeBase64(ifMatch) !== sum;
    const same = ifNoneMatch !== undefined && encodeBase64(ifNoneMatch) === sum;
    if (differs || same) return fail("SourceConditionNotMet");
    return writeReply(context, { "x-ms-content-crc64": sum });
  },
});
