import type { NodeRecord } from "../../file/records.ts";
import { writeTimes } from "../wire/file-facts.ts";
import { Writer } from "../wire/writer.ts";
import { factsOf, indexNumberOf } from "./facts.ts";

/** An entry of a listing, in the form of its class ([MS-FSCC] 2.4). */
export interface NamedNode {
  readonly name: string;
  readonly node: NodeRecord;
}

type Tail = (writer: Writer, index: bigint) => void;

interface EntryClass {
  /** Names alone, without anything about the files. */
  readonly namesOnly?: true;
  readonly tail: Tail;
  /** All that comes before the name. */
  readonly fixedBytes: number;
}

const shortNameBytes = 24;
const none: Tail = () => {};
const extended: Tail = (writer) => void writer.u32(0);
const both: Tail = (writer) => void writer.u32(0).u8(0).u8(0).zeros(shortNameBytes);

const entryClasses: Readonly<Record<number, EntryClass>> = {
  1: { tail: none, fixedBytes: 64 },
  2: { tail: extended, fixedBytes: 68 },
  3: { tail: both, fixedBytes: 94 },
  12: { namesOnly: true, tail: none, fixedBytes: 12 },
  37: {
    tail: (writer, index) => {
      both(writer, index);
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

export function entryBytesMin(infoClass: number): number | undefined {
  return entryClasses[infoClass]?.fixedBytes;
}

export function encodeEntry(infoClass: number, { name, node }: NamedNode, share: bigint): Buffer {
  const form = entryClasses[infoClass];
  if (form === undefined) throw new Error(`there is no directory class ${infoClass}`);
  const bytes = Buffer.from(name, "utf16le");
  const writer = new Writer(form.fixedBytes + bytes.length).u32(0).u32(0);
  if (form.namesOnly === true) return writer.u32(bytes.length).bytes(bytes).finish();
  const facts = factsOf(node);
  writeTimes(writer, facts)
    .u64(facts.size)
    .u64(facts.allocated)
    .u32(facts.attributes)
    .u32(bytes.length);
  form.tail(writer, indexNumberOf(node, share));
  return writer.bytes(bytes).finish();
}
