import { fileInfo, securityOf, volumeSpaceOf } from "../../file/filesystem/info.ts";
import { errorResponse, newResponse, type CommandResult } from "../response.ts";
import { exceedsLimits, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { fileClasses, mayQuery, volumeClasses } from "../files/information-classes.ts";
import { requestOn, type FileHandle } from "../files/file-handle.ts";
import { findFile } from "../files/lookup.ts";
import { descriptorBytes } from "../files/security.ts";
import { Status, statusOf } from "../status.ts";
import {
  decodeQueryInfo,
  encodeDataResponse,
  InfoType,
  type QueryInfoRequest,
} from "../wire/query.ts";
import { Writer } from "../wire/writer.ts";

/** FileFullEaInformation: no file has extended attributes. */
const extendedAttributesClass = 15;

/** QUERY_INFO: information about a file, the volume or the security descriptor. */
export async function queryInfo(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeQueryInfo(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const { outputBytesMax, input } = decoded;
  const moved = Math.max(outputBytesMax, input.length);
  if (exceedsLimits(request, outputBytesMax, moved)) return Status.invalidParameter;
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  switch (decoded.infoType) {
    case InfoType.file:
      return queryFile(request, handle, decoded);
    case InfoType.fileSystem:
      return queryVolume(request, handle, decoded);
    case InfoType.security:
      return querySecurity(request, handle, decoded);
    default:
      return decoded.infoType === InfoType.quota ? Status.notSupported : Status.invalidParameter;
  }
}

async function queryFile(
  { connection }: TreeRequest,
  handle: FileHandle,
  { infoClass, outputBytesMax }: QueryInfoRequest,
): Promise<CommandResult> {
  const decoded = fileClasses[infoClass];
  if (decoded === undefined) {
    const isKnown = infoClass === extendedAttributesClass;
    return isKnown ? Status.noEasOnFile : Status.invalidInfoClass;
  }
  if (!mayQuery(handle, decoded)) return Status.accessDenied;
  if (outputBytesMax < decoded.fixedBytes) return Status.infoLengthMismatch;
  const { runtime } = connection.server.world;
  const info = await fileInfo(runtime, requestOn(handle));
  if (info.kind === "fault") return statusOf(info.fault);
  const data = decoded.encode(info.value, handle);
  return data === undefined ? Status.objectNameNotFound : truncatedTo(data, outputBytesMax);
}

/** The response with as much data as the client accepts; with STATUS_BUFFER_OVERFLOW if it is
 *  truncated. */
function truncatedTo(data: Buffer, bytesMax: number): CommandResult {
  if (data.length <= bytesMax) return newResponse(encodeDataResponse(data));
  return newResponse(encodeDataResponse(data.subarray(0, bytesMax)), Status.bufferOverflow);
}

async function queryVolume(
  { connection, tree }: TreeRequest,
  { reference }: FileHandle,
  { infoClass, outputBytesMax }: QueryInfoRequest,
): Promise<CommandResult> {
  const decoded = volumeClasses[infoClass];
  if (decoded === undefined) return Status.invalidInfoClass;
  if (outputBytesMax < decoded.fixedBytes) return Status.infoLengthMismatch;
  const space = await volumeSpaceOf(connection.server.world.runtime, reference);
  if (space.kind === "fault") return statusOf(space.fault);
  const volume = { space: space.value, share: tree.share };
  return truncatedTo(decoded.encode(volume), outputBytesMax);
}

async function querySecurity(
  { connection }: TreeRequest,
  handle: FileHandle,
  { additional, outputBytesMax }: QueryInfoRequest,
): Promise<CommandResult> {
  // A request for no part needs no access right: the descriptor is empty, as on Windows.
  if (additional !== 0 && !has(handle.access, Right.readControl)) return Status.accessDenied;
  const found = await securityOf(connection.server.world.runtime, requestOn(handle));
  if (found.kind === "fault") return statusOf(found.fault);
  const bytes = descriptorBytes(found.value, additional);
  if (bytes === undefined) return Status.unsuccessful;
  if (bytes.length <= outputBytesMax) return newResponse(encodeDataResponse(bytes));
  return errorResponse(Status.bufferTooSmall, new Writer(4).u32(bytes.length).finish());
}
