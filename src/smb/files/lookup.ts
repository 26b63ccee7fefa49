import { errorResponse, type SmbResponse, type FileId } from "../response.ts";
import type { Handle } from "../handle.ts";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import { countRequest } from "./channel-sequence.ts";
import type { FileHandle } from "./file-handle.ts";

/** The handle that a request names or, if it is a related request of a compound, inherits from the
 *  request before it. Otherwise the error response. */
export function findHandle(request: TreeRequest, named: FileId): Handle | SmbResponse {
  const { session, tree, previous } = request;
  if (previous?.failure !== undefined) return errorResponse(previous.failure);
  const fileId = previous?.fileId ?? named;
  const handle = session.handles.get(fileId.volatile);
  const isValid =
    handle !== undefined &&
    handle.tree.id === tree.id &&
    handle.id.persistent === fileId.persistent;
  if (!isValid) return errorResponse(Status.fileClosed);
  request.lifetime.fileId = handle.id;
  if (handle.kind === "pipe") return handle;
  request.connection.server.replays.remove(handle);
  return countRequest(request, handle) ? handle : errorResponse(Status.fileNotAvailable);
}

export function isResponse(found: Handle | SmbResponse): found is SmbResponse {
  return "status" in found;
}

/** `findHandle` for requests that are not allowed on pipes. */
export function findFile(request: TreeRequest, named: FileId): FileHandle | SmbResponse {
  const found = findHandle(request, named);
  if (isResponse(found) || found.kind === "file") return found;
  return errorResponse(Status.invalidDeviceRequest);
}
