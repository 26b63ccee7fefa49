import type { Signer } from "./crypto/signing.ts";
import { Status, type NtStatus } from "./status.ts";
import { headerBytes } from "./wire/header.ts";
import { Writer } from "./wire/writer.ts";

/** The response to one request. Its header is written when the response is sent. */
export interface SmbResponse {
  readonly status: NtStatus;
  /** The message. The first 64 bytes are reserved for the header. */
  readonly message: Buffer;
  /** The FileId that related requests of the compound inherit. */
  readonly fileId?: FileId;
  /** The new id, set by TREE_CONNECT. If undefined, the response has the id of the request. The
   *  same holds for `sessionId`. */
  readonly treeId?: number;
  readonly sessionId?: bigint;
  /** Overrides the signer of the channel, if the session has ended or belongs to another
   *  connection. */
  readonly signer?: Signer | undefined;
  /** Receives the bytes as sent, for the preauthentication integrity hash. */
  readonly whenSigned?: (message: Buffer) => void;
  /** The final SESSION_SETUP response is signed even if the session does not require it. */
  readonly mustSign?: boolean;
  /** Set if nothing is sent and the connection is closed. */
  readonly closesConnection?: true;
}

/** What the handler of a command returns: a response, or the status of an error response. */
export type CommandResult = SmbResponse | NtStatus;

/** Id of an open: the persistent part survives a reconnect, the volatile part does not. */
export interface FileId {
  readonly persistent: bigint;
  readonly volatile: bigint;
}

const errorStructureSize = 9;

export function newResponse(body: Buffer, status: NtStatus = Status.success): SmbResponse {
  const message = Buffer.allocUnsafe(headerBytes + body.length);
  body.copy(message, headerBytes);
  return { status, message };
}

/** ERROR response, also used for interim responses ([MS-SMB2] 2.2.2). */
export function errorResponse(status: NtStatus, data?: Buffer): SmbResponse {
  const body = new Writer(16).u16(errorStructureSize).u16(0);
  if (data === undefined) body.u32(0).u8(0);
  else body.u32(data.length).bytes(data);
  return newResponse(body.finish(), status);
}

/** A response of StructureSize 4 without fields, as of ECHO and LOGOFF. */
export function emptyResponse(): SmbResponse {
  return newResponse(new Writer(4).u16(4).u16(0).finish());
}

/** Closes the connection without a response. */
export const disconnect: SmbResponse = {
  ...errorResponse(Status.invalidParameter),
  closesConnection: true,
};
