import { emptyContent } from "../../content/content-ref.ts";
import type { ContentReader } from "../../content/content.ts";
import type { Runtime } from "../../operation/work.ts";
import { handleAccess } from "../locks/file-access.ts";
import { executeAtOnce } from "./execute-operation.ts";
import { done, type FileResult } from "./file-result.ts";
import { handleOperation, type HandleRequest } from "./handle-operation.ts";

interface FileReadRequest extends HandleRequest {
  readonly from: number;
  readonly length: number;
}

/** The bytes of a READ, from one state of the file. The caller closes the reader. */
export interface FileReadResult {
  readonly reader: ContentReader;
  readonly length: number;
}

export const readOperation = handleOperation<FileReadRequest, { readonly length: number }>({
  name: "read",
  effect: "reads",
  event: "none",
  onSnapshot: "allowed",
  handle: "must-be-open",
  lease: "checked-at-open",
  fileAccess: { ...handleAccess.read, range: ({ request }) => request },
  decide: ({ request: { from, length }, loaded: { node } }) => {
    const { content = emptyContent } = node;
    if (from >= content.length && length > 0) return { fault: "end-of-file" };
    const available = content.length - Math.min(from, content.length);
    return { value: { length: Math.min(length, available) }, content };
  },
});

export async function readFile(
  runtime: Runtime,
  request: FileReadRequest,
): Promise<FileResult<FileReadResult>> {
  const outcome = await executeAtOnce(runtime, readOperation, request);
  if (outcome.kind === "fault") return outcome;
  const { reader, value } = outcome;
  if (reader === undefined) throw new Error("a successful read has content");
  return done({ reader, length: value.length });
}
