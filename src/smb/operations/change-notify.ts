import { newResponse, type CommandResult } from "../response.ts";
import { exceedsLimits, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { DirectoryWatch, type NotifyResult } from "../files/directory-watch.ts";
import { findFile } from "../files/lookup.ts";
import { Status } from "../status.ts";
import { decodeChangeNotify, encodeDataResponse } from "../wire/query.ts";

/** CHANGE_NOTIFY: responds when a directory changes. */
export async function changeNotify(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeChangeNotify(request.message);
  if (decoded === undefined || exceedsLimits(request, decoded.outputBytesMax)) {
    return Status.invalidParameter;
  }
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (!handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, Right.readData)) return Status.accessDenied;
  const { changeDispatcher: changes } = request.connection.server;
  handle.watch ??= new DirectoryWatch(
    { directory: handle.reference.file, filter: decoded.filter, watchesTree: decoded.watchesTree },
    (watch) => changes.subscribe(request.tree.share.id, watch),
  );
  await changes.whenSubscribed(request.tree.share.id);
  const { status, data } = await next(request, handle.watch, decoded.outputBytesMax);
  const isAnswered = status === Status.success || status === Status.notifyEnumDirectory;
  return isAnswered ? newResponse(encodeDataResponse(data), status) : status;
}

/** Resolves with the next changes of the directory, or when the request is cancelled. Sends an
 *  interim response if there are none yet. */
function next(
  { lifetime }: TreeRequest,
  watch: DirectoryWatch,
  bytesMax: number,
): Promise<NotifyResult> {
  const nothing = Buffer.alloc(0);
  return new Promise((resolve) => {
    let isFinished = false;
    const removeRequest = watch.addRequest(bytesMax, (result) => {
      isFinished = true;
      resolve(result);
    });
    if (isFinished) return;
    const status = lifetime.goAsync();
    if (status !== undefined) {
      removeRequest();
      resolve({ status, data: nothing });
      return;
    }
    lifetime.onCancel(() => {
      removeRequest();
      resolve({ status: Status.cancelled, data: nothing });
    });
  });
}
