import { Packr, RESERVE_START_SPACE } from "msgpackr";

/** Turns a record into bytes and back. The first byte is the version; older ones are migrated on
 *  read, newer ones refused. */
export interface RecordCodec<R> {
  encode(record: R): Uint8Array;
  decode(bytes: Uint8Array): R;
}

export interface RecordCodecOptions {
  /** From 1 to 255; raised whenever the form of the stored record changes. */
  readonly version: number;
  /** `migrate[n]` turns a record of version `n` into one of version `n + 1`. */
  readonly migrate?: Readonly<Record<number, (old: never) => unknown>>;
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

export function recordCodec<R>(options: RecordCodecOptions): RecordCodec<R> {
  const { version, migrate = {} } = options;
  return {
    encode(record) {
      const packed = packr.pack(record, RESERVE_START_SPACE + versionBytes);
      packed[0] = version;
      return new Uint8Array(packed.buffer, packed.byteOffset, packed.length);
    },
    decode(bytes) {
      const found = bytes[0] ?? 0;
      if (found > version) {
        throw new RecordTooNew(`a record has version ${found}, known is up to ${version}`);
      }
      let record: unknown = packr.unpack(bytes.subarray(versionBytes));
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
