import { emptyContent, type ReceivedBody } from "../../content/content-ref.ts";
import type { Runtime } from "../../operation/execute.ts";
import type { RecordView } from "../../operation/view.ts";
import { nextETag } from "../../protocol/etag.ts";
import type { Span } from "../../protocol/ranges.ts";
import { handleAccess } from "../locks/file-access.ts";
import { coveredBytes } from "../range/covered.ts";
import { changedFile, clearBytes, cutSpan, resizeContent } from "../range/write-rules.ts";
import { writeBytes, type WriteTime } from "../range/write-rules.ts";
import type { NodeRecord } from "../records.ts";
import { fileBytesMax, inlineRangeBytesMax } from "../shared/limits.ts";
import { usedBytes } from "../shared/quota.ts";
import { executeOperation, type LoadedContext } from "./execute-operation.ts";
import type { FileResultOrWait } from "./file-result.ts";
import { handleOperation, type HandleRequest, type LoadedFile } from "./handle-operation.ts";
import { changeNode } from "./node-effects.ts";

/** A request that changes the content of a file. */
export interface ChangeRequest extends HandleRequest {
  /** Whether the change leaves the last write time as it is, because the client has set it through
   *  this handle. */
  readonly keepsLastWrite: boolean;
}

export interface FileWriteRequest extends ChangeRequest {
  /** Offset of the first byte; `end` appends. */
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
} as const;

/** Writes bytes. The value of the reply is the record before the change. */
export const writeOperation = handleOperation<
  ReceivedWrite,
  NodeRecord,
  { readonly used: bigint; readonly covered: number }
>({
  ...changesFile,
  name: "write",
  validate: (context) => {
    const { from, length } = writtenSpan(context);
    return from + length > fileBytesMax ? "too-large" : undefined;
  },
  fileAccess: { ...handleAccess.write, range: writtenSpan },
  reads: async (view, context) => ({
    covered: await coveredBytesOf(view, context, writtenSpan(context)),
    used: await usedBytes(view, context.loaded.share),
  }),
  decide: (context) => {
    const { loaded, request, readResult } = context;
    const { share, node } = loaded;
    const { from: at } = writtenSpan(context);
    const time = timeOf(context);
    const written = writeBytes({
      share,
      node,
      at,
      received: request.received,
      ...readResult,
      ...time,
    });
    if (written === "disk-full") return { fault: "disk-full" };
    const next = { ...written.next, etag: time.newETag };
    return { value: node, effects: changeNode(loaded, next, written.content) };
  },
});

function writtenSpan({ request, loaded }: Context<FileWriteRequest>): Span {
  const { at, bytes } = request;
  const from = at === "end" ? (loaded.node.content?.length ?? 0) : at;
  return { from, length: bytes.length };
}

function coveredBytesOf(
  view: RecordView,
  { loaded }: Context<ChangeRequest>,
  span: Span,
): Promise<number> {
  return coveredBytes(view, loaded.node.content ?? emptyContent, span);
}

function timeOf({ request, loaded, now }: Context<ChangeRequest>): WriteTime {
  const lastWrite = request.keepsLastWrite ? "preserve" : "now";
  return { newETag: nextETag(now, loaded.node.etag), lastWrite };
}

/** Writes bytes to a file. They are durable before the transaction that refers to them, or part of
 *  it (`inlineBytesMax`). */
export async function writeFile(
  runtime: Runtime,
  request: FileWriteRequest,
): Promise<FileResultOrWait<NodeRecord>> {
  const { bytes } = request;
  const received = await runtime.content.receive(once(bytes), {
    length: bytes.length,
    lengthMax: bytes.length,
    inlineBytesMax: endsNearStart(request) ? inlineStartBytesMax : inlineRangeBytesMax,
    md5: false,
    crc64: false,
  });
  try {
    return await executeOperation(runtime, writeOperation, { ...request, received });
  } finally {
    runtime.content.discard(received);
  }
}

/** A write that ends within this many bytes of the start of the file is stored in the record: one
 *  flush, of the record, instead of two, of extent and record. */
const inlineStartBytesMax = 4096;

function endsNearStart({ at, bytes }: FileWriteRequest): boolean {
  return at !== "end" && at + bytes.length <= inlineStartBytesMax;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export interface FileResizeRequest extends ChangeRequest {
  /** The new length, or a function that derives it from the current one. */
  readonly length: number | ((present: number) => number);
}

/** Truncates the file or extends it by a hole, which reads as zeros. The value of the reply is the
 *  record before the change. */
export const resizeOperation = handleOperation<FileResizeRequest, NodeRecord, number>({
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
  reads: (view, context) =>
    coveredBytesOf(view, context, cutSpan(context.loaded.node, newLength(context))),
  decide: (context) => {
    const { loaded, readResult: cutOff } = context;
    const { node } = loaded;
    const content = resizeContent(node, newLength(context));
    if (content === undefined) return { value: node };
    const time = timeOf(context);
    const next = { ...changedFile(node, time, -cutOff), etag: time.newETag };
    return { value: node, effects: changeNode(loaded, next, content) };
  },
});

function newLength({ request: { length }, loaded: { node } }: Context<FileResizeRequest>): number {
  return typeof length === "number" ? length : length(node.content?.length ?? 0);
}

export function resizeFile(
  runtime: Runtime,
  request: FileResizeRequest,
): Promise<FileResultOrWait<NodeRecord>> {
  return executeOperation(runtime, resizeOperation, request);
}

export interface FileZeroRequest extends ChangeRequest {
  readonly span: Span;
}

/** Writes zeros inside the file and frees whole sectors. The value of the reply is the record
 *  before the change. */
export const zeroOperation = handleOperation<FileZeroRequest, NodeRecord, number>({
  ...changesFile,
  name: "zero",
  fileAccess: { ...handleAccess.write, range: zeroedSpan },
  reads: (view, context) => coveredBytesOf(view, context, zeroedSpan(context)),
  decide: (context) => {
    const { loaded, readResult: covered } = context;
    const { share, node } = loaded;
    const span = zeroedSpan(context);
    if (span.length === 0) return { value: node };
    const time = timeOf(context);
    const { next, content } = clearBytes({ share, node, span, covered, ...time });
    return { value: node, effects: changeNode(loaded, { ...next, etag: time.newETag }, content) };
  },
});

/** The part of the requested span that lies inside the file. */
function zeroedSpan({ request: { span }, loaded: { node } }: Context<FileZeroRequest>): Span {
  const present = node.content?.length ?? 0;
  return { from: span.from, length: Math.max(0, Math.min(span.length, present - span.from)) };
}

export function zeroFile(
  runtime: Runtime,
  request: FileZeroRequest,
): Promise<FileResultOrWait<NodeRecord>> {
  return executeOperation(runtime, zeroOperation, request);
}
