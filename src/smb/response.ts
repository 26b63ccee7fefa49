import type { Signer } from "./crypto/signing.ts";
import { Status, type NtStatus } from "./status.ts";
import { headerBytes } from "./wire/header.ts";
import { Writer } from "./wire/writer.ts";

/** What a message is answered with. The header is written when it is sent. */
export interface SmbResponse {
  readonly status: NtStatus;
  /** Begins with room for the header. */
  readonly message: Buffer;
  /** The handle that later messages of a chain speak of. */
  readonly fileId?: FileId;
  /** Given to the client by this answer. */
  readonly treeId?: number;
  readonly sessionId?: bigint;
  /** Signs it in any case, though its session ended with it or is not of this connection. */
  readonly signer?: Signer | undefined;
  /** Sees the message as it is sent: some go into the hash that keys are made from. */
  readonly whenSigned?: (message: Buffer) => void;
  /** Signed in any case: it proves that the server knows the new key. */
  readonly mustSign?: boolean;
  /** The connection ends after this answer, or instead of it. */
  readonly closesConnection?: "after" | "instead";
}

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

/** A failure, or the word that an answer will come later ([MS-SMB2] 2.2.2). */
export function errorResponse(status: NtStatus, data?: Buffer): SmbResponse {
  const body = new Writer(16).u16(errorStructureSize).u16(0);
  if (data === undefined) body.u32(0).u8(0);
  else body.u32(data.length).bytes(data);
  return newResponse(body.finish(), status);
}

/** The smallest body: its own size and nothing. */
export function emptyResponse(): SmbResponse {
  return newResponse(new Writer(4).u16(4).u16(0).finish());
}

export const disconnect: SmbResponse = {
  ...errorResponse(Status.invalidParameter),
  closesConnection: "instead",
};
