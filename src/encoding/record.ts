import { Packr, RESERVE_START_SPACE } from "msgpackr";
import { fromValues, positionsOf, toValues, type Shape } from "./positional.ts";

/** Encodes records as bytes. The first byte is the format version; older versions are migrated when
 *  read, newer ones throw `RecordTooNew`. */
export interface RecordCodec<R> {
  encode(record: R): Uint8Array;
  decode(bytes: Uint8Array): R;
}

export interface RecordCodecOptions<R> {
  /** 1 to 255; raised whenever the stored form changes. */
  readonly version: number;
  /** `migrate[n]` converts a record of version `n` to version `n + 1`. */
  readonly migrate?: Readonly<Record<number, (old: never) => unknown>>;
  /** Stores the values by position instead of by name. Records stored by name, as before the shape
   *  was introduced, can still be read. */
  readonly shape?: Shape<R>;
}

/** The record was written by a newer release. Reading it would drop the fields that release
 *  added. */
export class RecordTooNew extends Error {
  override readonly name = "RecordTooNew";
}

/** Undefined fields are omitted. Byte fields are decoded as views of the stored value, which
 *  engines never modify. A field named `__proto__` is lost: names that users choose must be stored
 *  as arrays of pairs. */
const packOptions = {
  useRecords: false,
  copyBuffers: false,
  int64AsType: "bigint" as const,
  skipValues: [undefined],
};
const packr = new Packr(packOptions);
const versionBytes = 1;

export interface DecodeCacheOptions {
  /** Maximum number of cached records. */
  readonly slots?: number;
  /** Records below this length are not cached. */
  readonly bytesMin?: number;
}

/** Adds a cache of decoded records to a codec, keyed by their bytes, for records that nearly every
 *  request reads, such as accounts and containers. Direct mapped: a record replaces the one in its
 *  slot. */
export function withDecodeCache<R>(
  codec: RecordCodec<R>,
  { slots = slotsDefault, bytesMin = 0 }: DecodeCacheOptions = {},
): RecordCodec<R> {
  const cache: ({ readonly bytes: Uint8Array; readonly record: R } | undefined)[] = [];
  return {
    encode: (record) => codec.encode(record),
    decode(bytes) {
      if (bytes.length < bytesMin) return codec.decode(bytes);
      const slot = hashOf(bytes) % slots;
      const cached = cache[slot];
      if (cached !== undefined && isSame(cached.bytes, bytes)) return cached.record;
      const own = new Uint8Array(bytes);
      const record = codec.decode(own);
      cache[slot] = { bytes: own, record };
      return record;
    },
  };
}

const slotsDefault = 256;
const hashFactor = 31;
const hashedBytesMax = 32;
/** Up to this length a loop is faster than a native comparison. */
const loopBytesMax = 1024;

/** Samples at most 32 bytes, spread over the whole record: records may differ anywhere. */
function hashOf(bytes: Uint8Array): number {
  const step = Math.ceil(bytes.length / hashedBytesMax);
  let hash = bytes.length;
  for (let at = 0; at < bytes.length; at += step) hash = (hash * hashFactor + bytes[at]!) | 0;
  return hash >>> 0;
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  if (left.length > loopBytesMax)
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
        throw new RecordTooNew(
          `record has version ${found}; this release supports up to ${version}`,
        );
      }
      let record: unknown = packr.unpack(bytes.subarray(versionBytes));
      if (positions !== undefined && Array.isArray(record)) record = fromValues(positions, record);
      for (let step = found; step < version; step += 1) {
        const migrateStep = migrate[step];
        if (migrateStep === undefined) {
          throw new Error(`no migration from record version ${step} to ${step + 1}`);
        }
        record = migrateStep(record as never);
      }
      return record as R;
    },
  };
}
