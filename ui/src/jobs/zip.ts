/**
 * A zip file without compression (APPNOTE.TXT of PKWARE, method 0), with the 64-bit records for
 * more than 65,534 entries or 4 GiB. Contents are staged as `Blob`s, which browsers keep outside
 * the heap, on disk if they are large. Therefore a header is written when its length and checksum
 * are known, and a failed entry leaves no trace.
 */
export class ZipFile {
  readonly #contents = new Parts();
  readonly #directory = new Parts();
  #entryCount = 0;
  #offset = 0;
  #directoryBytes = 0;

  get byteCount(): number {
    return this.#offset;
  }

  add(entry: ZipEntry): void {
    const name = new TextEncoder().encode(entry.name);
    const local = localHeader(entry, name);
    const central = centralHeader(entry, name, this.#offset);
    this.#contents.add(local);
    for (const part of entry.parts) this.#contents.add(part);
    this.#directory.add(central);
    this.#directoryBytes += central.byteLength;
    this.#offset += local.byteLength + entry.byteCount;
    this.#entryCount += 1;
  }

  finish(): Blob {
    const end = endRecords({
      entryCount: this.#entryCount,
      directoryBytes: this.#directoryBytes,
      offset: this.#offset,
    });
    return new Blob([this.#contents.whole(), this.#directory.whole(), ...end], {
      type: "application/zip",
    });
  }
}

export interface ZipEntry {
  readonly name: string;
  readonly modifiedAt: Date;
  readonly checksum: number;
  readonly byteCount: number;
  readonly parts: readonly (Bytes | Blob)[];
}

/** Bytes that are collected in memory before they are handed to the browser. */
const collectedBytesMax = 1024 * 1024;

/** A growing content. Small parts are combined: browsers are slow with many parts. */
class Parts {
  readonly #parts: (Bytes | Blob)[] = [];
  #small: Bytes[] = [];
  #smallBytes = 0;

  add(part: Bytes | Blob): void {
    if (part instanceof Blob) {
      this.#combine();
      this.#parts.push(part);
      return;
    }
    this.#small.push(part);
    this.#smallBytes += part.byteLength;
    if (this.#smallBytes >= collectedBytesMax) this.#combine();
  }

  whole(): Blob {
    this.#combine();
    return new Blob(this.#parts);
  }

  #combine(): void {
    if (this.#small.length > 0) this.#parts.push(new Blob([joined(this.#small)]));
    this.#small = [];
    this.#smallBytes = 0;
  }
}

export type Bytes = Uint8Array<ArrayBuffer>;
type Field = readonly [bytes: 2 | 4 | 8, value: number];

const limit32 = 0xffffffff;
const limit16 = 0xffff;
/** Names are UTF-8. */
const utf8Flag = 0x0800;
const version45 = 45;
const epochYear = 1980;

function packed(fields: readonly Field[]): Bytes {
  const length = fields.reduce((sum, [bytes]) => sum + bytes, 0);
  const view = new DataView(new ArrayBuffer(length));
  let at = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += bytes;
  }
  return new Uint8Array(view.buffer);
}

function joined(parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** Date and time in the format of MS-DOS, which has 2 s steps from 1980 on. */
function dosTime(at: Date): readonly [time: number, date: number] {
  const year = Math.max(epochYear, at.getFullYear());
  const date = ((year - epochYear) << 9) | ((at.getMonth() + 1) << 5) | at.getDate();
  const time = (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1);
  return [time, date];
}

/** The fields that local and central headers have in common. */
function commonFields({ modifiedAt, checksum, byteCount }: ZipEntry, name: Bytes): Field[] {
  const [time, date] = dosTime(modifiedAt);
  const size = Math.min(byteCount, limit32);
  return [
    [2, version45],
    [2, utf8Flag],
    [2, 0],
    [2, time],
    [2, date],
    [4, checksum],
    [4, size],
    [4, size],
    [2, name.byteLength],
  ];
}

/** The 64-bit fields that an entry needs: its length, stored and original, and its offset. */
function extraOf(byteCount: number, offset = 0): Bytes {
  const length: Field = [8, byteCount];
  const fields: readonly Field[] = [
    ...(byteCount >= limit32 ? [length, length] : []),
    ...(offset >= limit32 ? [[8, offset] as const] : []),
  ];
  return packed(fields.length === 0 ? [] : [[2, 1], [2, fields.length * 8], ...fields]);
}

function localHeader(entry: ZipEntry, name: Bytes): Bytes {
  const extra = extraOf(entry.byteCount);
  const fields = commonFields(entry, name);
  return joined([packed([[4, 0x04034b50], ...fields, [2, extra.byteLength]]), name, extra]);
}

function centralHeader(entry: ZipEntry, name: Bytes, offset: number): Bytes {
  const extra = extraOf(entry.byteCount, offset);
  const header = packed([
    [4, 0x02014b50],
    [2, version45],
    ...commonFields(entry, name),
    [2, extra.byteLength],
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, Math.min(offset, limit32)],
  ]);
  return joined([header, name, extra]);
}

interface Ending {
  readonly entryCount: number;
  readonly directoryBytes: number;
  readonly offset: number;
}

function endRecords({ entryCount, directoryBytes, offset }: Ending): readonly Bytes[] {
  const isLarge = entryCount >= limit16 || directoryBytes >= limit32 || offset >= limit32;
  const count16 = Math.min(entryCount, limit16);
  const end = packed([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count16],
    [2, count16],
    [4, Math.min(directoryBytes, limit32)],
    [4, Math.min(offset, limit32)],
    [2, 0],
  ]);
  if (!isLarge) return [end];
  const end64 = packed([
    [4, 0x06064b50],
    [8, 44],
    [2, version45],
    [2, version45],
    [4, 0],
    [4, 0],
    [8, entryCount],
    [8, entryCount],
    [8, directoryBytes],
    [8, offset],
  ]);
  const locator = packed([
    [4, 0x07064b50],
    [4, 0],
    [8, offset + directoryBytes],
    [4, 1],
  ]);
  return [end64, locator, end];
}
