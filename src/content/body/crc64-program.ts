import { bufferMemory, crcResultsAt, WebAssembly } from "../../process/bytes.ts";

/** A WebAssembly program that computes CRC-64/NVME for `checksums.ts`: JavaScript has no fast
 *  integers of 64 bits. It is assembled here, instruction by instruction, so that the build needs
 *  no other compiler. It looks up eight bytes at once in eight tables ("slicing by 8"). */

/** CRC-64/NVME, reflected: the lowest power of the polynomial is the top bit. */
const polynomial = 0x9a6c_9329_ac4b_c9b5n;

const tableBytes = 256 * 8;

/** WebAssembly's codes of the types and instructions that the program consists of:
 *  webassembly.github.io/spec/core/binary/instructions.html */
const int32 = 0x7f;
const int64 = 0x7e;
const noResult = 0x40;
const block = 0x02;
const loop = 0x03;
const end = 0x0b;
const branch = 0x0c;
const branchIf = 0x0d;
const isZero = 0x45;
const isLess = 0x49;
const add = 0x6a;
const subtract = 0x6b;
const and = 0x71;
const shiftLeft = 0x74;
const xor64 = 0x85;
const shiftLeft64 = 0x86;
const shiftRight64 = 0x88;
const wrap = 0xa7;

type Part = number | readonly number[];
const join = (...parts: readonly Part[]): number[] => parts.flat();
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const constant = (value: number): number[] => [0x41, ...signed(value)];
const constant64 = (value: number): number[] => [0x42, ...signed(value)];
const load64 = (offset: number): number[] => [0x29, 0, ...unsigned(offset)];
const loadByte = (offset: number): number[] => [0x31, 0, ...unsigned(offset)];
const store64 = (offset: number): number[] => [0x37, 0, ...unsigned(offset)];
const advance = (local: number, by: number): number[] =>
  join(get(local), constant(by), add, set(local));
const invert = join(constant64(-1), xor64);
const store = (crc: number, offset: number): number[] =>
  join(constant(0), get(crc), invert, store64(offset));

interface Program {
  /** Continues the CRC in the first cell of `crcResults` (`process/bytes.ts`) with bytes from `at`
   *  on. */
  readonly continueCrc: (at: number, length: number) => void;
  /** Stores the CRCs of two adjacent ranges of `length` bytes each, a multiple of 8, in the two
   *  cells of `crcResults`, for `combineCrc64`. */
  readonly crcOfHalves: (at: number, length: number) => void;
}

const memory = bufferMemory.buffer;
fillTables(new BigUint64Array(memory, 0, 8 * 256));
export const { continueCrc, crcOfHalves } = new WebAssembly.Instance(
  new WebAssembly.Module(programBytes()),
  {
    "": { memory: bufferMemory },
  },
).exports as unknown as Program;

/** Table `k` contains, for each value of a byte, the CRC of the byte followed by `k` zeros. */
function fillTables(tables: BigUint64Array): void {
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1n ? (crc >> 1n) ^ polynomial : crc >> 1n;
    tables[byte] = crc;
  }
  for (let index = 256; index < tables.length; index += 1) {
    const before = tables[index - 256] ?? 0n;
    tables[index] = (before >> 8n) ^ (tables[Number(before & 0xffn)] ?? 0n);
  }
}

/** Code that adds the eight bytes at `pointer` to the local variable `crc`. Each byte has a table
 *  of its own, because each is followed by a different number of bytes. */
function addEightBytes(crc: number, pointer: number): number[] {
  const fromTable = (byte: number): number[] => {
    // The position in the table: the value of the byte times 8, the bytes of an entry.
    const shift =
      byte === 0 ? [constant64(3), shiftLeft64] : [constant64(8 * byte - 3), shiftRight64];
    return join(
      get(crc),
      ...shift,
      wrap,
      constant(0xff << 3),
      and,
      load64((7 - byte) * tableBytes),
    );
  };
  return join(
    join(get(crc), get(pointer), load64(0), xor64, set(crc)),
    fromTable(0),
    ...[1, 2, 3, 4, 5, 6, 7].map((byte) => join(fromTable(byte), xor64)),
    set(crc),
  );
}

/** The code of `continueCrc`, with the parameters pointer and length and a local for the CRC. */
function continueCrcCode(): number[] {
  const [pointer, length, crc] = [0, 1, 2];
  const addByte = join(
    join(get(crc), constant64(8), shiftRight64),
    join(get(crc), get(pointer), loadByte(0), xor64, wrap, constant(0xff), and),
    join(constant(3), shiftLeft, load64(0), xor64, set(crc)),
  );
  const shorten = (by: number): number[] =>
    join(advance(pointer, by), get(length), constant(by), subtract, set(length));
  const repeat = (isDone: readonly number[], ...body: readonly Part[]): number[] =>
    join(block, noResult, loop, noResult, isDone, branchIf, 1, ...body, branch, 0, end, end);
  return join(
    join(constant(0), load64(crcResultsAt), invert, set(crc)),
    repeat(join(get(length), constant(8), isLess), addEightBytes(crc, pointer), shorten(8)),
    repeat(join(get(length), isZero), addByte, shorten(1)),
    join(store(crc, crcResultsAt), end),
  );
}

/** The code of `crcOfHalves`, with the parameters pointer and length. The steps of one half are
 *  computed while those of the other wait for their tables, which takes little more than half the
 *  time. */
function crcOfHalvesCode(): number[] {
  const [first, length, second, stop, firstCrc, secondCrc] = [0, 1, 2, 3, 4, 5];
  return join(
    join(get(first), get(length), add, set(second), get(second), set(stop)),
    join(constant64(-1), set(firstCrc), constant64(-1), set(secondCrc)),
    join(loop, noResult, addEightBytes(firstCrc, first), addEightBytes(secondCrc, second)),
    join(advance(first, 8), advance(second, 8), get(first), get(stop), isLess, branchIf, 0, end),
    join(store(firstCrc, crcResultsAt), store(secondCrc, crcResultsAt + 8), end),
  );
}

/** The WebAssembly module, in the binary format: it imports the memory of body buffers and exports
 *  `continueCrc` and `crcOfHalves`. */
function programBytes(): Uint8Array {
  const isShared = 3;
  const pages = [1, ...unsigned(65_536)];
  const header = [0, ...Buffer.from("asm"), 1, 0, 0, 0];
  const program = join(
    header,
    section(1, [[0x60, 2, int32, int32, 0]]),
    section(2, [join(text(""), text("memory"), 2, isShared, pages)]),
    section(3, [[0], [0]]),
    section(7, [join(text("continueCrc"), 0, 0), join(text("crcOfHalves"), 0, 1)]),
    section(10, [
      sized(join(1, 1, int64, continueCrcCode())),
      sized(join(2, 2, int32, 2, int64, crcOfHalvesCode())),
    ]),
  );
  return new Uint8Array(program);
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  return [id, ...sized([items.length, ...items.flat()])];
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}

function text(value: string): number[] {
  return sized([...Buffer.from(value)]);
}

/** A number as LEB128, WebAssembly's encoding: seven bits per byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
