import type { NodeRecord } from "../../file/records.ts";
import { writeTimes } from "../wire/file-facts.ts";
import { Writer } from "../wire/writer.ts";
import { factsOf, indexNumberOf } from "./information-classes.ts";

/** An entry of a QUERY_DIRECTORY response, which this file encodes. It has a name of its own,
 *  because the entries `.` and `..` are not named like the directories that they stand for. */
export interface NamedNode {
  readonly name: string;
  readonly node: NodeRecord;
}

type Tail = (writer: Writer, index: bigint) => void;

interface EntryClass {
  /** Set for FileNamesInformation, which has no times, sizes and attributes. */
  readonly namesOnly?: true;
  /** Writes the fields between the length of the name and the name. */
  readonly tail: Tail;
  /** Length of the entry without the file name, which follows at this offset. */
  readonly fixedBytes: number;
}

const shortNameBytes = 24;
const none: Tail = () => {};
const withEaSize: Tail = (writer) => void writer.u32(0);
const withShortName: Tail = (writer) => void writer.u32(0).u8(0).u8(0).zeros(shortNameBytes);

/** The supported information classes of directory entries, by number ([MS-FSCC] 2.4). */
const entryClasses: Readonly<Record<number, EntryClass>> = {
  1: { tail: none, fixedBytes: 64 },
  2: { tail: withEaSize, fixedBytes: 68 },
  3: { tail: withShortName, fixedBytes: 94 },
  12: { namesOnly: true, tail: none, fixedBytes: 12 },
  37: {
    tail: (writer, index) => {
      withShortName(writer, index);
      writer.u16(0).u64(index);
    },
    fixedBytes: 104,
  },
  38: { tail: (writer, index) => void writer.u32(0).u32(0).u64(index), fixedBytes: 80 },
  60: {
    tail: (writer, index) => void writer.u32(0).u32(0).u64(index).u64(0n),
    fixedBytes: 88,
  },
};

/** The smallest buffer for an entry of this information class; undefined if the class is not
 *  supported. */
export function entryBytesMin(infoClass: number): number | undefined {
  return entryClasses[infoClass]?.fixedBytes;
}

export function encodeEntry(infoClass: number, { name, node }: NamedNode, share: bigint): Buffer {
  const entryClass = entryClasses[infoClass];
  if (entryClass === undefined) throw new Error(`no directory information class ${infoClass}`);
  const bytes = Buffer.from(name, "utf16le");
  const writer = new Writer(entryClass.fixedBytes + bytes.length).u32(0).u32(0);
  if (entryClass.namesOnly === true) return writer.u32(bytes.length).bytes(bytes).finish();
  const facts = factsOf(node);
  writeTimes(writer, facts)
    .u64(facts.size)
    .u64(facts.allocated)
    .u32(facts.attributes)
    .u32(bytes.length);
  entryClass.tail(writer, indexNumberOf(node, share));
  return writer.bytes(bytes).finish();
}

/** Position of a QUERY_DIRECTORY enumeration. */
export interface Listing {
  readonly pattern: string;
  /** How many of the entries `.` and `..`, which come first, were returned. */
  dots: 0 | 1 | 2;
  /** Case-folded name at which the enumeration continues. */
  from: string;
  isFinished: boolean;
  /** Whether a response had entries; then the end is STATUS_NO_MORE_FILES, else
   *  STATUS_NO_SUCH_FILE. */
  hasShown: boolean;
}

export function newListing(pattern: string): Listing {
  return { pattern, dots: 0, from: "", isFinished: false, hasShown: false };
}
