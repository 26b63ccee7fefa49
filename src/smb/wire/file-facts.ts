import type { Writer } from "./writer.ts";
import { fileTimeStart, type Ticks } from "../../base/ticks.ts";

/** Times (as FILETIME), sizes (in bytes) and attributes of a file, as the responses to CREATE and
 *  CLOSE and several information classes contain them. */
export interface FileFacts {
  readonly created: bigint;
  readonly accessed: bigint;
  readonly written: bigint;
  readonly changed: bigint;
  readonly allocated: bigint;
  readonly size: bigint;
  readonly attributes: number;
}

/** For pipes, and for the response to CLOSE if the client wants no facts or the file is gone. */
export const noFacts: FileFacts = {
  created: 0n,
  accessed: 0n,
  written: 0n,
  changed: 0n,
  allocated: 0n,
  size: 0n,
  attributes: 0,
};

export function writeTimes(writer: Writer, facts: FileFacts): Writer {
  return writer.u64(facts.created).u64(facts.accessed).u64(facts.written).u64(facts.changed);
}

/** Writes all facts in the order of the responses to CREATE and CLOSE. */
export function writeFacts(writer: Writer, facts: FileFacts): Writer {
  return writeTimes(writer, facts).u64(facts.allocated).u64(facts.size).u32(facts.attributes);
}

/** The FILETIME of a store time. FILETIME begins in 1601; earlier times become 0. */
export function fileTimeOf(ticks: Ticks): bigint {
  return ticks <= fileTimeStart ? 0n : ticks - fileTimeStart;
}

/** The store time of a FILETIME that a client sends, to set times or to name a share snapshot. */
export function ticksOfFileTime(fileTime: bigint): Ticks {
  return fileTime + fileTimeStart;
}
