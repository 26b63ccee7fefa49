import { fileClasses, volumeClasses } from "../../src/smb/files/information-classes.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import type { Handle } from "./wire-client.ts";
import { firstToken, sessionSetup } from "./wire-login.ts";
import { closeBody, createBody, lockBody, notifyBody } from "./wire-messages.ts";

/** One valid message of every kind, as a basis for malformed ones. */
export interface Sound {
  readonly command: number;
  readonly body: Buffer;
}

const controls = [
  0x0006_0194, 0x0011_c017, 0x0014_0204, 0x0014_01fc, 0x0014_0078, 0x0014_40f2, 0x0014_4064,
  0x0009_80c8, 0x0009_40cf, 0x0009_003c, 0x0009_c040, 0x0009_00c0, 0x0009_00a8, 0x0014_01d4,
];
const setClasses = [4, 10, 11, 13, 14, 16, 19, 20, 64, 65];
const listClasses = [1, 2, 3, 12, 37, 38, 60];

export function soundMessages(file: Handle, directory: Handle): readonly Sound[] {
  const read = head(49).u16(0).u32(64).u64(0n).bytes(id(file)).zeros(17).finish();
  const write = head(49).u16(112).u32(4).u64(0n).bytes(id(file)).zeros(16).u32(1).finish();
  return [
    { command: 1, body: sessionSetup(firstToken()) },
    { command: 3, body: treeConnect("\\\\server\\share") },
    { command: 5, body: createBody("fuzzed.txt", { oplock: 9 }) },
    { command: 5, body: createBody("fuzzed.txt", { oplock: 0xff, contexts: createContexts() }) },
    { command: 6, body: closeBody(file) },
    { command: 7, body: closeBody(file) },
    { command: 8, body: read },
    { command: 9, body: write },
    { command: 10, body: lockBody(file, { at: 0, length: 9, flags: 0x12 }) },
    { command: 13, body: Buffer.from([4, 0, 0, 0]) },
    { command: 15, body: notifyBody(directory) },
    { command: 18, body: head(24).zeros(6).bytes(id(file)).finish() },
    { command: 18, body: head(36).zeros(34).finish() },
    ...controls.map((code) => ({ command: 11, body: control(file, code) })),
    ...numbersIn(fileClasses).map((each) => ({ command: 16, body: query(file, 1, each) })),
    ...numbersIn(volumeClasses).map((each) => ({ command: 16, body: query(file, 2, each) })),
    { command: 16, body: query(file, 3, 0) },
    ...setClasses.map((each) => ({ command: 17, body: change(file, 1, each) })),
    { command: 17, body: change(file, 3, 0) },
    ...listClasses.map((each) => ({ command: 14, body: list(directory, each) })),
  ];
}

function numbersIn(classes: Readonly<Record<number, unknown>>): readonly number[] {
  return Object.keys(classes).map(Number);
}

function head(structureSize: number): Writer {
  return new Writer().u16(structureSize);
}

function id({ persistent, volatile }: Handle): Buffer {
  return new Writer(16).u64(persistent).u64(volatile).finish();
}

function treeConnect(path: string): Buffer {
  const bytes = Buffer.from(path, "utf16le");
  return head(9).u16(0).u16(72).u16(bytes.length).bytes(bytes).finish();
}

function control(file: Handle, code: number): Buffer {
  const input = Buffer.alloc(48, 1);
  return head(57)
    .u16(0)
    .u32(code)
    .bytes(id(file))
    .u32(120)
    .u32(input.length)
    .zeros(12)
    .u32(4096)
    .u32(1)
    .u32(0)
    .bytes(input)
    .finish();
}

function query(file: Handle, kind: number, infoClass: number): Buffer {
  return head(41)
    .u8(kind)
    .u8(infoClass)
    .u32(4096)
    .zeros(8)
    .u32(7)
    .u32(0)
    .bytes(id(file))
    .zeros(1)
    .finish();
}

function change(file: Handle, kind: number, infoClass: number): Buffer {
  const data = Buffer.alloc(64);
  return head(33)
    .u8(kind)
    .u8(infoClass)
    .u32(data.length)
    .u16(96)
    .u16(0)
    .u32(4)
    .bytes(id(file))
    .bytes(data)
    .finish();
}

function list(directory: Handle, infoClass: number): Buffer {
  const pattern = Buffer.from("*", "utf16le");
  return head(33)
    .u8(infoClass)
    .u8(0)
    .u32(0)
    .bytes(id(directory))
    .u16(96)
    .u16(pattern.length)
    .u32(4096)
    .bytes(pattern)
    .finish();
}

/** Create contexts: a lease, a durable handle and others. */
function createContexts(): Buffer {
  const named: readonly (readonly [string, Buffer])[] = [
    ["RqLs", Buffer.alloc(52, 1)],
    ["DH2Q", Buffer.alloc(32)],
    ["MxAc", Buffer.alloc(0)],
    ["AlSi", Buffer.alloc(8, 1)],
    ["SecD", Buffer.alloc(32)],
  ];
  const writer = new Writer();
  for (const [index, [name, data]] of named.entries()) {
    const start = writer.length;
    writer.u32(0).u16(16).u16(4).u16(0).u16(24).u32(data.length);
    writer.bytes(Buffer.from(name, "latin1")).zeros(4).bytes(data);
    if (index < named.length - 1) writer.align(8).setU32(start, writer.length - start);
  }
  return writer.finish();
}
