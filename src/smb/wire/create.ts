import type { FileId } from "../response.ts";
import { decodeContexts, encodeContexts, type CreateContext } from "./create-contexts.ts";
import { headerBytes } from "./header.ts";
import { Reader } from "./reader.ts";
import { writeFileId } from "./file-id.ts";
import { Writer } from "./writer.ts";
import { writeTimes, type FileFacts } from "./file-facts.ts";

/** CREATE ([MS-SMB2] 2.2.13, 2.2.14). */
export interface CreateRequest {
  readonly oplock: number;
  readonly impersonation: number;
  readonly access: number;
  readonly attributes: number;
  readonly share: number;
  readonly disposition: number;
  readonly options: number;
  readonly name: string;
  readonly contexts: readonly CreateContext[];
}

const structureSize = 57;
const responseStructureSize = 89;
const responseFixedBytes = 88;

export function decodeCreate(message: Buffer): CreateRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === structureSize;
  reader.skip(1);
  const oplock = reader.u8();
  const impersonation = reader.u32();
  reader.skip(16);
  const access = reader.u32();
  const attributes = reader.u32();
  const share = reader.u32();
  const disposition = reader.u32();
  const options = reader.u32();
  const nameOffset = reader.u16();
  const nameLength = reader.u16();
  const contextOffset = reader.u32();
  const contextLength = reader.u32();
  const nameBytes = reader.bytesAt(nameOffset, nameLength);
  const contexts = decodeContexts(reader.bytesAt(contextOffset, contextLength));
  if (!isSizeValid || contexts === undefined || nameLength % 2 !== 0) return undefined;
  const name = nameBytes.toString("utf16le");
  const fixed = { access, attributes, share, disposition, options, name, contexts };
  return reader.checked({ oplock, impersonation, ...fixed });
}

export interface CreateResponse {
  readonly oplock: number;
  readonly action: number;
  readonly facts: FileFacts;
  readonly fileId: FileId;
  readonly contexts: readonly CreateContext[];
}

export function encodeCreateResponse(response: CreateResponse): Buffer {
  const { facts, contexts } = response;
  const contextBytes = encodeContexts(contexts);
  const writer = new Writer()
    .u16(responseStructureSize)
    .u8(response.oplock)
    .u8(0)
    .u32(response.action);
  writeTimes(writer, facts).u64(facts.allocated).u64(facts.size).u32(facts.attributes).u32(0);
  writeFileId(writer, response.fileId)
    .u32(contextBytes.length === 0 ? 0 : headerBytes + responseFixedBytes)
    .u32(contextBytes.length)
    .bytes(contextBytes);
  if (contextBytes.length === 0) writer.zeros(1);
  return writer.finish();
}
