import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes } from "../credit-charge.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { findFile, findHandle, isResponse } from "../files/lookup.ts";
import type { TreeRequest } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import { decodeIoctl, encodeIoctlResponse, type IoctlRequest } from "../wire/ioctl.ts";
import { Writer } from "../wire/writer.ts";
import { copyChunks, resumeKey } from "./copy-chunk.ts";
import { allocatedRanges, enumerateSnapshots, zeroData } from "./file-controls.ts";
import { networkInterfaces } from "./network-interfaces.ts";
import { callPipe, takeFromPipe } from "./pipe.ts";
import { validateNegotiate } from "./validate-negotiate.ts";

/** The output of a control, the status of its failure, or a complete response. */
export type ControlResult = Buffer | NtStatus | SmbResponse;
type FileControl = (
  request: TreeRequest,
  handle: FileHandle,
  asked: IoctlRequest,
) => ControlResult | Promise<ControlResult>;

const Control = {
  dfsReferrals: 0x0006_0194,
  dfsReferralsEx: 0x0006_01b0,
  pipeTransceive: 0x0011_c017,
  pipeWait: 0x0011_0018,
  validateNegotiate: 0x0014_0204,
  networkInterfaces: 0x0014_01fc,
} as const;

/** Controls on an open file, by FSCTL code ([MS-FSCC] 2.3). */
const fileControls: Readonly<Record<number, FileControl>> = {
  0x0014_0078: resumeKey,
  0x0014_40f2: (request, handle, asked) => copyChunks(request, handle, asked, "read-too"),
  0x0014_80f2: (request, handle, asked) => copyChunks(request, handle, asked, "write-only"),
  0x0014_4064: enumerateSnapshots,
  0x0009_80c8: zeroData,
  0x0009_40cf: allocatedRanges,
  0x0009_003c: () => Buffer.alloc(2),
  0x0009_c040: (_, __, { input }) => {
    const isNone = input.length >= 2 && input.readUInt16LE() === 0;
    return isNone ? Buffer.alloc(0) : Status.notSupported;
  },
  0x0009_00c0: objectId,
  0x0009_00a8: () => Status.notAReparsePoint,
};

/** IOCTL: runs a file system control (FSCTL). */
export async function ioctl(request: TreeRequest): Promise<SmbResponse> {
  const asked = decodeIoctl(request.message);
  if (asked === undefined || asked.outputBytesMax > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  const moved = Math.max(asked.outputBytesMax, asked.input.length);
  if (!coversBytes(request, moved)) return errorResponse(Status.invalidParameter);
  if (!asked.isFileSystemControl) return errorResponse(Status.notSupported);
  const result = await run(request, asked);
  if (typeof result === "number") return errorResponse(result);
  if (!Buffer.isBuffer(result)) return result;
  return newResponse(encodeIoctlResponse(asked.code, asked.fileId, result));
}

async function run(request: TreeRequest, asked: IoctlRequest): Promise<ControlResult> {
  switch (asked.code) {
    case Control.dfsReferrals:
    case Control.dfsReferralsEx:
      return Status.notFound;
    case Control.validateNegotiate:
      return validateNegotiate(request, asked);
    case Control.networkInterfaces:
      return networkInterfaces(request, asked);
    case Control.pipeWait:
      return Status.notSupported;
    case Control.pipeTransceive:
      return transceive(request, asked);
    default: {
      const control = fileControls[asked.code];
      const handle = findFile(request, asked.fileId);
      if (isResponse(handle)) return handle;
      return control === undefined ? Status.invalidDeviceRequest : control(request, handle, asked);
    }
  }
}

const objectIdBytes = 64;

/** FSCTL_CREATE_OR_GET_OBJECT_ID: the object id is derived from the file id, so that it need not be
 *  stored. */
function objectId(
  { tree }: TreeRequest,
  { reference }: FileHandle,
  { outputBytesMax }: IoctlRequest,
): ControlResult {
  if (outputBytesMax < objectIdBytes) return Status.invalidParameter;
  return new Writer(objectIdBytes).u64(reference.file).u64(tree.shareId).zeros(48).finish();
}

/** FSCTL_PIPE_TRANSCEIVE: writes a call to a pipe and reads its response in one request. */
async function transceive(request: TreeRequest, asked: IoctlRequest): Promise<ControlResult> {
  const handle = findHandle(request, asked.fileId);
  if (isResponse(handle)) return handle;
  if (handle.kind !== "pipe") return Status.invalidDeviceRequest;
  if (!(await callPipe(request, handle, asked.input))) return Status.invalidParameter;
  const { bytes, isCut } = takeFromPipe(handle, asked.outputBytesMax);
  const body = encodeIoctlResponse(asked.code, asked.fileId, bytes);
  return newResponse(body, isCut ? Status.bufferOverflow : Status.success);
}
