import { Reader } from "../wire/reader.ts";
import { Writer } from "../wire/writer.ts";

/** The operations of srvsvc that clients use to list shares ([MS-SRVS] 3.1.4), encoded as NDR
 *  ([C706] 14): first the fixed fields, with a referent id (any number but 0) for each pointer,
 *  then the texts that the pointers refer to. */

const Operation = { enumerate: 15, getInfo: 16, serverInfo: 21 } as const;
const ShareKind = { disk: 0, pipe: 3, hidden: 0x8000_0000 } as const;
const invalidLevel = 124;
const noSuchShare = 2310;
const textUnitsMax = 1024;
const referent = 0x0002_0000;

interface ShareEntry {
  readonly name: string;
  readonly comment: string;
}

const pipeEntry: ShareEntry = { name: "IPC$", comment: "Remote IPC" };

/** Runs an operation of srvsvc by number; undefined if it is unknown or the input is malformed. */
export async function callShareService(
  operation: number,
  input: Buffer,
  listShares: () => Promise<readonly string[]>,
  serverName: string,
): Promise<Buffer | undefined> {
  const entries = async (): Promise<readonly ShareEntry[]> => {
    return [...(await listShares()).map((name) => ({ name, comment: "" })), pipeEntry];
  };
  switch (operation) {
    case Operation.enumerate:
      return enumerate(input, await entries());
    case Operation.getInfo:
      return getInfo(input, await entries());
    case Operation.serverInfo:
      return serverInfo(input, serverName);
    default:
      return undefined;
  }
}

function readText(reader: Reader): string {
  // Maximum count and offset of the conformant varying string.
  reader.skip(8);
  const units = reader.u32();
  // A negative skip marks the input as malformed.
  if (units > textUnitsMax) return reader.skip(-1).text(0);
  const text = reader.text(units * 2);
  reader.align(4);
  return text.replace(/\0$/, "");
}

function readPointedText(reader: Reader): string {
  return reader.u32() === 0 ? "" : readText(reader);
}

function writeText(writer: Writer, text: string): void {
  const units = text.length + 1;
  writer.u32(units).u32(0).u32(units).text(`${text}\0`).align(4);
}

function kindOf({ name }: ShareEntry): number {
  return name === pipeEntry.name ? (ShareKind.pipe | ShareKind.hidden) >>> 0 : ShareKind.disk;
}

function enumerate(input: Buffer, entries: readonly ShareEntry[]): Buffer | undefined {
  const reader = new Reader(input);
  readPointedText(reader);
  const level = reader.u32();
  if (!reader.intact) return undefined;
  const writer = new Writer().u32(level).u32(level);
  if (level > 1) return writer.u32(0).u32(0).u32(0).u32(invalidLevel).finish();
  writer
    .u32(referent)
    .u32(entries.length)
    .u32(referent + 4)
    .u32(entries.length);
  for (const [index, entry] of entries.entries()) {
    writer.u32(referent + 8 + index * 8);
    if (level === 1) writer.u32(kindOf(entry)).u32(referent + 12 + index * 8);
  }
  for (const { name, comment } of entries) {
    writeText(writer, name);
    if (level === 1) writeText(writer, comment);
  }
  return writer.u32(entries.length).u32(0).u32(0).finish();
}

function getInfo(input: Buffer, entries: readonly ShareEntry[]): Buffer | undefined {
  const reader = new Reader(input);
  readPointedText(reader);
  const name = readText(reader).toLowerCase();
  const level = reader.u32();
  if (!reader.intact) return undefined;
  const writer = new Writer().u32(level);
  const entry = entries.find((each) => each.name.toLowerCase() === name);
  if (entry === undefined) return writer.u32(0).u32(noSuchShare).finish();
  if (level > 2) return writer.u32(0).u32(invalidLevel).finish();
  writer.u32(referent).u32(referent + 4);
  if (level >= 1) writer.u32(kindOf(entry)).u32(referent + 8);
  if (level === 2)
    writer
      .u32(0)
      .u32(0xffff_ffff)
      .u32(0)
      .u32(referent + 12)
      .u32(0);
  writeText(writer, entry.name);
  if (level >= 1) writeText(writer, entry.comment);
  if (level === 2) writeText(writer, "");
  return writer.u32(0).finish();
}

const platformNt = 500;
const serverKind = 0x9003;

function serverInfo(input: Buffer, serverName: string): Buffer | undefined {
  const reader = new Reader(input);
  readPointedText(reader);
  const level = reader.u32();
  if (!reader.intact) return undefined;
  const writer = new Writer().u32(level);
  if (level !== 100 && level !== 101) return writer.u32(0).u32(invalidLevel).finish();
  writer
    .u32(referent)
    .u32(platformNt)
    .u32(referent + 4);
  if (level === 101)
    writer
      .u32(6)
      .u32(1)
      .u32(serverKind)
      .u32(referent + 8);
  writeText(writer, serverName);
  if (level === 101) writeText(writer, "");
  return writer.u32(0).finish();
}
