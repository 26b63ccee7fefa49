import { bodyDecoder, headerBytes, readFileId, type Decoded } from "./header.ts";
import { Writer } from "./writer.ts";

/** The bodies of QUERY_DIRECTORY, CHANGE_NOTIFY, QUERY_INFO and SET_INFO ([MS-SMB2] 2.2.33 to
 *  2.2.40). The handlers in `operations/` decode and encode them. */

export const DirectoryFlag = { restart: 1, single: 2, reopen: 0x10 } as const;

export const decodeQueryDirectory = bodyDecoder(33, (reader) => {
  const infoClass = reader.u8();
  const flags = reader.u8();
  const fileId = readFileId(reader.skip(4));
  const nameOffset = reader.u16();
  const nameLength = reader.u16();
  const outputBytesMax = reader.u32();
  if (nameLength % 2 !== 0) return undefined;
  const pattern = reader.bytesAt(nameOffset, nameLength).toString("utf16le");
  return { infoClass, flags, fileId, pattern, outputBytesMax };
});
export type QueryDirectoryRequest = Decoded<typeof decodeQueryDirectory>;

export const decodeChangeNotify = bodyDecoder(32, (reader) => ({
  watchesTree: (reader.u16() & 1) !== 0,
  outputBytesMax: reader.u32(),
  fileId: readFileId(reader),
  filter: reader.u32(),
}));

export const InfoType = { file: 1, fileSystem: 2, security: 3, quota: 4 } as const;

export const decodeQueryInfo = bodyDecoder(41, (reader) => {
  const infoType = reader.u8();
  const infoClass = reader.u8();
  const outputBytesMax = reader.u32();
  const inputOffset = reader.u16();
  const inputLength = reader.skip(2).u32();
  const additional = reader.u32();
  const fileId = readFileId(reader.skip(4));
  const input = reader.bytesAt(inputOffset, inputLength);
  return { infoType, infoClass, outputBytesMax, additional, fileId, input };
});
export type QueryInfoRequest = Decoded<typeof decodeQueryInfo>;

export const decodeSetInfo = bodyDecoder(33, (reader) => {
  const infoType = reader.u8();
  const infoClass = reader.u8();
  const length = reader.u32();
  const offset = reader.u16();
  const additional = reader.skip(2).u32();
  const fileId = readFileId(reader);
  return { infoType, infoClass, additional, fileId, data: reader.bytesAt(offset, length) };
});
export type SetInfoRequest = Decoded<typeof decodeSetInfo>;

const dataOffset = headerBytes + 8;

/** The response form of QUERY_DIRECTORY, QUERY_INFO and CHANGE_NOTIFY. */
export function encodeDataResponse(data: Buffer): Buffer {
  const writer = new Writer(16 + data.length)
    .u16(9)
    .u16(data.length === 0 ? 0 : dataOffset)
    .u32(data.length)
    .bytes(data);
  if (data.length === 0) writer.zeros(1);
  return writer.finish();
}

export function encodeSetInfoResponse(): Buffer {
  return new Writer(2).u16(2).finish();
}
