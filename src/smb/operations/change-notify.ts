import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { DirectoryWatch, type NotifyResult } from "../files/directory-watch.ts";
import { findFile, isResponse } from "../files/lookup.ts";
import { Status } from "../status.ts";
import { decodeChangeNotify, encodeDataResponse } from "../wire/query.ts";

/** CHANGE_NOTIFY: responds when a directory changes. */
export async function changeNotify(request: TreeRequest): Promise<SmbResponse> {
  const decoded = decodeChangeNotify(request.message);
  if (decoded === undefined || decoded.outputBytesMax > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  if (!coversBytes(request, decoded.outputBytesMax)) return errorResponse(Status.invalidParameter);
  const handle = findFile(request, decoded.fileId);
  if (isResponse(handle)) return handle;
  if (!handle.isDirectory) return errorResponse(Status.invalidParameter);
  if (!has(handle.access, Right.readData)) return errorResponse(Status.accessDenied);
  const { changeDispatcher: changes } = request.connection.server;
  handle.watch ??= new DirectoryWatch(
    { directory: handle.reference.file, filter: decoded.filter, watchesTree: decoded.watchesTree },
    (watch) => changes.subscribe(request.tree.shareId, watch),
  );
  await changes.whenSubscribed(request.tree.shareId);
  const { status, data } = await next(request, handle.watch, decoded.outputBytesMax);
  const isAnswered = status === Status.success || status === Status.notifyEnumDirectory;
  return isAnswered ? newResponse(encodeDataResponse(data), status) : errorResponse(status);
}

function next(
  { lifetime }: TreeRequest,
  watch: DirectoryWatch,
  bytesMax: number,
): Promise<NotifyResult> {
  const nothing = Buffer.alloc(0);
  return new Promise((resolve) => {
    let isFinished = false;
    const takeBack = watch.addRequest(bytesMax, (result) => {
      isFinished = true;
      resolve(result);
    });
    if (isFinished) return;
    const status = lifetime.goAsync();
    if (status !== undefined) {
      takeBack();
      resolve({ status, data: nothing });
      return;
    }
    lifetime.onCancel(() => {
      takeBack();
      resolve({ status: Status.cancelled, data: nothing });
    });
  });
}
