import { Packr, RESERVE_START_SPACE } from "msgpackr";
import { fromValues, positionsOf, toValues, type Shape } from "./positional.ts";

/** Turns a record into bytes and back. The first byte is the version; older ones are migrated on
 *  read, newer ones refused. */
export interface RecordCodec<R> {
  encode(record: R): Uint8Array;
  decode(bytes: Uint8Array): R;
}

export interface RecordCodecOptions<R> {
  /** From 1 to 255; raised whenever the form of the stored record changes. */
  readonly version: number;
  /** `migrate[n]` turns a record of version `n` into one of version `n + 1`. */
  readonly migrate?: Readonly<Record<number, (old: never) => unknown>>;
  /** Stores the values by position. A record without a shape is still read: its first version had
   *  none. */
  readonly shape?: Shape<R>;
}

/** The record was written by a newer release; reading on would lose what it added. */
export class RecordTooNew extends Error {
  override readonly name = "RecordTooNew";
}

/** Fields that are undefined are left out. Byte fields are decoded as views of the value: engines
 *  hand out values that stay as they are. A field named `__proto__` does not
 *  survive: names that users choose belong in arrays of pairs. */
const packOptions = {
  useRecords: false,
  copyBuffers: false,
  int64AsType: "bigint" as const,
  skipValues: [undefined],
};
const packr = new Packr(packOptions);
const versionBytes = 1;

export interface RememberingOptions {
  /** How many records are kept at most. */
  readonly places?: number;
  /** Shorter records are decoded each time. */
  readonly bytesMin?: number;
}

/** For records that nearly every request reads: of what was decoded lately, equal bytes give the
 *  same record again. */
export function withDecodeCache<R>(
  codec: RecordCodec<R>,
  { places = recentPlaces, bytesMin = 0 }: RememberingOptions = {},
): RecordCodec<R> {
  const recent: ({ readonly bytes: Uint8Array; readonly record: R } | undefined)[] = [];
  return {
    encode: (record) => codec.encode(record),
    decode(bytes) {
      if (bytes.length < bytesMin) return codec.decode(bytes);
      const place = placeOf(bytes) % places;
      const known = recent[place];
      if (known !== undefined && isSame(known.bytes, bytes)) return known.record;
      const own = new Uint8Array(bytes);
      const record = codec.decode(own);
      recent[place] = { bytes: own, record };
      return record;
    },
  };
}

const recentPlaces = 256;
const hashFactor = 31;
const hashedBytesMax = 32;
/** Longer records are worth the call that compares them as blocks of memory. */
const comparedHereMax = 1024;

/** From bytes all over the record: any of them may be what tells two records apart. */
function placeOf(bytes: Uint8Array): number {
  const step = Math.ceil(bytes.length / hashedBytesMax);
  let hash = bytes.length;
  for (let at = 0; at < bytes.length; at += step) hash = (hash * hashFactor + bytes[at]!) | 0;
  return hash >>> 0;
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  if (left.length > comparedHereMax)
    return Buffer.from(left.buffer, left.byteOffset, left.length).equals(right);
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}

export function recordCodec<R>(options: RecordCodecOptions<R>): RecordCodec<R> {
  const { version, migrate = {} } = options;
  const positions = options.shape && positionsOf(options.shape);
  return {
    encode(record) {
      const form = positions === undefined ? record : toValues(positions, record as object);
      const packed = packr.pack(form, RESERVE_START_SPACE + versionBytes);
      packed[0] = version;
      return new Uint8Array(packed.buffer, packed.byteOffset, packed.length);
    },
    decode(bytes) {
      const found = bytes[0] ?? 0;
      if (found > version) {
        throw new RecordTooNew(`a record has version ${found}, known is up to ${version}`);
      }
      let record: unknown = packr.unpack(bytes.subarray(versionBytes));
      if (positions !== undefined && Array.isArray(record)) record = fromValues(positions, record);
      for (let step = found; step < version; step += 1) {
        const migrateStep = migrate[step];
        if (migrateStep === undefined) {
          throw new Error(`no migration leads from record version ${step} to ${step + 1}`);
        }
        record = migrateStep(record as never);
      }
      return record as R;
    },
  };
}
