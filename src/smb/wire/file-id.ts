import type { FileId } from "../response.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

export function readFileId(reader: Reader): FileId {
  return { persistent: reader.u64(), volatile: reader.u64() };
}

export function writeFileId(writer: Writer, { persistent, volatile }: FileId): Writer {
  return writer.u64(persistent).u64(volatile);
}

const allOnes = 0xffff_ffff_ffff_ffffn;

/** Whether this is the FileId of requests without a file, such as some IOCTLs. */
export function isNoFile({ persistent, volatile }: FileId): boolean {
  return persistent === allOnes && volatile === allOnes;
}
