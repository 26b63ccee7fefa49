import { newResponse, emptyResponse, errorResponse, type SmbResponse } from "../response.ts";
import { has, Right } from "../files/access.ts";
import { factsOf } from "../files/facts.ts";
import { findFile, findHandle, isResponse } from "../files/lookup.ts";
import { closeFileHandles } from "../handle-closer.ts";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import { decodeClose, decodeFlush, encodeCloseResponse } from "../wire/io.ts";

export async function close(request: TreeRequest): Promise<SmbResponse> {
  const asked = decodeClose(request.message);
  if (asked === undefined) return errorResponse(Status.invalidParameter);
  const handle = findHandle(request, asked.fileId);
  if (isResponse(handle)) return handle;
  request.session.handles.delete(handle.id.volatile);
  if (handle.kind === "pipe") return newResponse(encodeCloseResponse(undefined));
  const { node } = await closeFileHandles(request.connection.server, [handle]);
  const facts = asked.wantsFacts && node !== undefined ? factsOf(node) : undefined;
  return newResponse(encodeCloseResponse(facts));
}

const flushRights = Right.writeData | Right.appendData;

/** FLUSH has no effect: every write is durable before its response. */
export function flush(request: TreeRequest): SmbResponse {
  const fileId = decodeFlush(request.message);
  if (fileId === undefined) return errorResponse(Status.invalidParameter);
  const handle = findFile(request, fileId);
  if (isResponse(handle)) return handle;
  return has(handle.access, flushRights) ? emptyResponse() : errorResponse(Status.accessDenied);
}
