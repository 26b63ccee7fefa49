import { oneChunk } from "../../content/content.ts";
import {
  type ReceivedBody,
  inlinePartBytesMax,
  inlineWholeBytesMax,
} from "../../content/content-ref.ts";
import type { Runtime } from "../../operation/work.ts";
import { nextETag } from "../../protocol/conditions.ts";
import type { Span } from "../../protocol/ranges.ts";
import { handleAccess } from "../locks/file-access.ts";
import {
  changedFile,
  clearBytes,
  coveredBytes,
  cutSpan,
  resizeContent,
  spanInside,
  writeBytes,
  type WriteTime,
  type WrittenFile,
} from "../range/write-rules.ts";
import type { NodeRecord } from "../records.ts";
import { fileBytesMax, fitsQuota, readUsed } from "../shared/limits.ts";
import { executeOperation, type LoadedContext, callOf } from "./execute-operation.ts";
import type { FileOutcome, FileReply } from "./file-result.ts";
import { handleOperation, type HandleRequest, type LoadedFile } from "./handle-operation.ts";
import { changeNode } from "./new-node.ts";

/** Changes of the content of a file by SMB clients: write, resize, zero. */

/** What the requests to write, resize and zero a file have in common. */
interface ChangeRequest extends HandleRequest {
  /** Whether the change leaves the last write time as it is, because the client has set it through
   *  this handle. */
  readonly keepsLastWrite: boolean;
}

interface FileWriteRequest extends ChangeRequest {
  /** Offset of the first byte. `end` appends to the file. */
  readonly at: number | "end";
  readonly bytes: Uint8Array;
}

type ReceivedWrite = FileWriteRequest & { readonly received: ReceivedBody };
type Context<Request> = LoadedContext<Request, LoadedFile>;

const changesFile = {
  effect: "writes",
  onSnapshot: "file-closed",
  handle: "must-be-open",
  lease: "checked-at-open",
  event: "at-close",
} as const;

/** Writes bytes. Returns the record before the change, for change notification. */
export const writeOperation = handleOperation<
  ReceivedWrite,
  NodeRecord,
  { readonly used: bigint | undefined; readonly covered: number }
>({
  ...changesFile,
  name: "write",
  validate: (context) => {
    const { from, length } = writtenSpan(context);
    return from + length > fileBytesMax ? "too-large" : undefined;
  },
  fileAccess: { ...handleAccess.write, range: writtenSpan },
  reads: async (view, context) => ({
    covered: await coveredBytes(view, context.loaded.node, writtenSpan(context)),
    used: await readUsed(view, context.loaded.share, grownBytes(context)),
  }),
  decide: (context) => {
    const { loaded, request, readResult } = context;
    const { share, node } = loaded;
    const { used, covered } = readResult;
    if (!fitsQuota(share, used, grownBytes(context))) return { fault: "disk-full" };
    const { from: at } = writtenSpan(context);
    const { received } = request;
    return contentReply(context, writeBytes({ node, at, received, covered, ...timeOf(context) }));
  },
});

function writtenSpan({ request, loaded }: Context<FileWriteRequest>): Span {
  const { at, bytes } = request;
  const from = at === "end" ? (loaded.node.content?.length ?? 0) : at;
  return { from, length: bytes.length };
}

/** By how many bytes a write exceeds the length of the file, for the check of the quota. */
function grownBytes(context: Context<FileWriteRequest>): number {
  const { from, length } = writtenSpan(context);
  return from + length - (context.loaded.node.content?.length ?? 0);
}

/** The reply of write, resize and zero: stores the file with its changed content, and marks the
 *  handle for the event log. */
function contentReply(
  { request, loaded, now }: Context<ChangeRequest>,
  { next, content }: WrittenFile,
): FileReply<NodeRecord> {
  const { node } = loaded;
  const effects = changeNode(loaded, { ...next, etag: nextETag(now, node.etag) }, content);
  return { value: node, effects, openChange: { file: node.id, handle: request.handle } };
}

function timeOf({ request, loaded, now }: Context<ChangeRequest>): WriteTime {
  const lastWrite = request.keepsLastWrite ? "preserve" : "now";
  return { newETag: nextETag(now, loaded.node.etag), lastWrite };
}

/** Receives and writes the bytes of SMB WRITE. They are durable before the transaction that refers
 *  to them; few bytes are stored in the record itself (`inlineBytesMax`). */
export async function writeFile(
  runtime: Runtime,
  request: FileWriteRequest,
): Promise<FileOutcome<NodeRecord>> {
  const { bytes } = request;
  const received = await runtime.content.receive(oneChunk(bytes), {
    length: bytes.length,
    lengthMax: bytes.length,
    inlineBytesMax: endsNearStart(request) ? inlineWholeBytesMax : inlinePartBytesMax,
    md5: false,
    crc64: false,
  });
  try {
    return await executeOperation(runtime, writeOperation, { ...request, received });
  } finally {
    runtime.content.discard(received);
  }
}

/** Whether the file up to the end of the write is short enough to be stored in its record, as the
 *  whole content of a small file is. */
function endsNearStart({ at, bytes }: FileWriteRequest): boolean {
  return at !== "end" && at + bytes.length <= inlineWholeBytesMax;
}

interface FileResizeRequest extends ChangeRequest {
  /** The new length, or a function that derives it from the current one. */
  readonly length: number | ((present: number) => number);
}

/** Truncates the file or extends it by a hole, which reads as zeros. Returns the record before the
 *  change, for change notification. */
export const resizeOperation = handleOperation<
  FileResizeRequest,
  NodeRecord,
  { readonly used: bigint | undefined; readonly cutOff: number }
>({
  ...changesFile,
  name: "resize",
  validate: (context) => (newLength(context) > fileBytesMax ? "too-large" : undefined),
  fileAccess: {
    ...handleAccess.write,
    range: (context) => {
      const present = context.loaded.node.content?.length ?? 0;
      const wanted = newLength(context);
      const from = Math.min(wanted, present);
      return { from, length: Math.max(wanted, present) - from };
    },
  },
  reads: async (view, context) => {
    const { share, node } = context.loaded;
    const length = newLength(context);
    return {
      cutOff: await coveredBytes(view, node, cutSpan(node, length)),
      used: await readUsed(view, share, length - (node.content?.length ?? 0)),
    };
  },
  decide: (context) => {
    const { loaded, readResult } = context;
    const { share, node } = loaded;
    const length = newLength(context);
    const content = resizeContent(node, length);
    if (content === undefined) return { value: node };
    const grown = length - (node.content?.length ?? 0);
    if (!fitsQuota(share, readResult.used, grown)) return { fault: "disk-full" };
    const change = { length, allocated: -readResult.cutOff };
    return contentReply(context, { next: changedFile(node, timeOf(context), change), content });
  },
});

function newLength({ request: { length }, loaded: { node } }: Context<FileResizeRequest>): number {
  return typeof length === "number" ? length : length(node.content?.length ?? 0);
}

export const resizeFile = callOf(resizeOperation);

interface FileZeroRequest extends ChangeRequest {
  readonly span: Span;
}

/** Writes zeros inside the file and frees whole sectors (512 bytes). Returns the record before the
 *  change, for change notification. */
export const zeroOperation = handleOperation<FileZeroRequest, NodeRecord, number>({
  ...changesFile,
  name: "zero",
  fileAccess: { ...handleAccess.write, range: zeroedSpan },
  reads: (view, context) => coveredBytes(view, context.loaded.node, zeroedSpan(context)),
  decide: (context) => {
    const { loaded, readResult: covered } = context;
    const { share, node } = loaded;
    const span = zeroedSpan(context);
    if (span.length === 0) return { value: node };
    return contentReply(context, clearBytes({ share, node, span, covered, ...timeOf(context) }));
  },
});

function zeroedSpan({ request, loaded }: Context<FileZeroRequest>): Span {
  return spanInside(loaded.node, request.span);
}

export const zeroFile = callOf(zeroOperation);
