import { fileInfo, securityOf, volumeSpaceOf } from "../../file/filesystem/info.ts";
import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { fileClasses, mayQuery, volumeClasses } from "../files/information-classes.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { findFile, isResponse } from "../files/lookup.ts";
import { descriptorBytes } from "../files/security.ts";
import { Status, statusOf } from "../status.ts";
import {
  decodeQueryInfo,
  encodeDataResponse,
  InfoType,
  type QueryInfoRequest,
} from "../wire/query.ts";
import { Writer } from "../wire/writer.ts";

const extendedAttributesClass = 15;

/** QUERY_INFO: information about a file, the volume or the security descriptor. */
export async function queryInfo(request: TreeRequest): Promise<SmbResponse> {
  const decoded = decodeQueryInfo(request.message);
  if (decoded === undefined || decoded.outputBytesMax > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  const moved = Math.max(decoded.outputBytesMax, decoded.input.length);
  if (!coversBytes(request, moved)) return errorResponse(Status.invalidParameter);
  const handle = findFile(request, decoded.fileId);
  if (isResponse(handle)) return handle;
  switch (decoded.infoType) {
    case InfoType.file:
      return queryFile(request, handle, decoded);
    case InfoType.fileSystem:
      return queryVolume(request, handle, decoded);
    case InfoType.security:
      return querySecurity(request, handle, decoded);
    default:
      return errorResponse(
        decoded.infoType === InfoType.quota ? Status.notSupported : Status.invalidParameter,
      );
  }
}

async function queryFile(
  { connection }: TreeRequest,
  handle: FileHandle,
  { infoClass, outputBytesMax }: QueryInfoRequest,
): Promise<SmbResponse> {
  const decoded = fileClasses[infoClass];
  if (decoded === undefined) {
    const isKnown = infoClass === extendedAttributesClass;
    return errorResponse(isKnown ? Status.noEasOnFile : Status.invalidInfoClass);
  }
  if (!mayQuery(handle, decoded)) return errorResponse(Status.accessDenied);
  if (outputBytesMax < decoded.fixedBytes) return errorResponse(Status.infoLengthMismatch);
  const { runtime } = connection.server.world;
  const info = await fileInfo(runtime, handle.reference, handle.id.persistent);
  if (info.kind === "fault") return errorResponse(statusOf(info.fault));
  const data = decoded.encode(info.value, handle);
  return data === undefined
    ? errorResponse(Status.objectNameNotFound)
    : truncatedTo(data, outputBytesMax);
}

/** The response with as much data as the client accepts; with STATUS_BUFFER_OVERFLOW if it is
 *  truncated. */
function truncatedTo(data: Buffer, bytesMax: number): SmbResponse {
  if (data.length <= bytesMax) return newResponse(encodeDataResponse(data));
  return newResponse(encodeDataResponse(data.subarray(0, bytesMax)), Status.bufferOverflow);
}

async function queryVolume(
  { connection, tree }: TreeRequest,
  { reference }: FileHandle,
  { infoClass, outputBytesMax }: QueryInfoRequest,
): Promise<SmbResponse> {
  const decoded = volumeClasses[infoClass];
  if (decoded === undefined) return errorResponse(Status.invalidInfoClass);
  if (outputBytesMax < decoded.fixedBytes) return errorResponse(Status.infoLengthMismatch);
  const space = await volumeSpaceOf(connection.server.world.runtime, reference);
  if (space.kind === "fault") return errorResponse(statusOf(space.fault));
  const volume = {
    space: space.value,
    name: tree.shareName,
    id: tree.shareId,
    created: space.value.createdAt,
  };
  return truncatedTo(decoded.encode(volume), outputBytesMax);
}

async function querySecurity(
  { connection }: TreeRequest,
  { reference, id, access }: FileHandle,
  { additional, outputBytesMax }: QueryInfoRequest,
): Promise<SmbResponse> {
  // A request for no part needs no access right: the descriptor is empty, as on Windows.
  if (additional !== 0 && !has(access, Right.readControl))
    return errorResponse(Status.accessDenied);
  const found = await securityOf(connection.server.world.runtime, {
    reference,
    handle: id.persistent,
  });
  if (found.kind === "fault") return errorResponse(statusOf(found.fault));
  const bytes = descriptorBytes(found.value, additional);
  if (bytes === undefined) return errorResponse(Status.unsuccessful);
  if (bytes.length <= outputBytesMax) return newResponse(encodeDataResponse(bytes));
  return errorResponse(Status.bufferTooSmall, new Writer(4).u32(bytes.length).finish());
}
