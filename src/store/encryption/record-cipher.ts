import { encodeTaggedKey, type KeyText } from "../../encoding/keys.ts";
import { RecentMap } from "../../process/memo.ts";
import { ReadOnce } from "../../process/read-once.ts";
import { keyWithoutSequence } from "../logs.ts";
import type {
  Engine,
  EngineBatch,
  EngineReader,
  EngineView,
  EngineWrite,
  ValueCodec,
  VersionedEntry,
} from "../engine.ts";
import type { Key, Value } from "../store.ts";
import { headerText, messageId, SealBroken, sealBytes, type Cipher } from "./cipher.ts";

/** Encrypts the values of a store, between its engine and its transactions: the LMDB store wraps
 *  its engine (`encodedEngine`), the PostgreSQL store calls the codec for each value. Keys are not
 *  encrypted, because the engine must order them. */

/** Which entries of a store are treated differently, by the first byte of their keys. */
export interface RecordRules {
  /** Entries with plain values: counters, to which a database adds, and the list of extents. */
  readonly plain: ReadonlySet<number>;
  /** Entries of logs: a database inserts the sequence into the key after the value was encrypted,
   *  so the value is authenticated with the key without it. */
  readonly logs: ReadonlySet<number>;
}

/** First byte of the key of the wrapped data keys, which are not encrypted again. A restore or a
 *  copy of a store leaves them out. */
export const keyringTag = 0x0e;
export const keyringKey: Key = encodeTaggedKey(keyringTag, []);

/** Limit of the decrypted values in memory unless the caller sets another: enough for accounts and
 *  containers, which every request reads. */
const cachedBytesDefault = 8 * 1024 * 1024;
/** Longest value that is kept: a record with a content of 4 KiB in it is shorter. */
const cachedValueBytesMax = 8 * 1024;
/** Memory that a kept value takes beside its bytes and its key: 380 bytes were measured. */
const bytesPerCached = 400;
/** Bytes of a short record with its key, approximately. */
const bytesPerSlot = 1024;
/** Memory that is allocated at a time for copies of values. */
const slabBytes = 64 * 1024;

interface CachedValue {
  readonly text: KeyText;
  readonly value: Value;
}

/** Encrypts the values of a store. The key of an entry is authenticated with its value, so that an
 *  exchange of values between keys is noticed. Up to `cachedBytesMax` bytes of decrypted values are
 *  kept in memory. */
export function recordCipher(
  cipher: Cipher,
  rules: RecordRules,
  cachedBytesMax = cachedBytesDefault,
): ValueCodec {
  const isPlain = (text: KeyText): boolean =>
    rules.plain.has(text.charCodeAt(0)) || text.charCodeAt(0) === keyringTag;
  const placeOf = (key: Key): Uint8Array =>
    rules.logs.has(key[0] ?? 0) ? keyWithoutSequence(key) : key;
  const cache = new ValueCache(cachedBytesMax);
  const seal = (key: Key, text: KeyText, value: Value): Value => {
    const sealed = cipher.seal("record", placeOf(key), value);
    // Values are often read or replaced soon after they were written, and a replacement reads them.
    // Measured with blobs of 1 KiB: this costs 2 µs of the 39 of a new one, and saves 3 of the 41
    // of a replacement, 8 of the 59 of a put and two gets.
    cache.add(headerText(sealed), { text, value });
    return sealed;
  };
  const open = (key: Key, stored: Value): Value => {
    // The mark of a deleted key (`store/lmdb/overlay-engine.ts`); encrypted values are longer.
    if (stored.length === 0) return stored;
    try {
      return cipher.open("record", placeOf(key), stored);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      const name = Buffer.from(key).toString("hex");
      throw new SealBroken(`the record with key ${name}: ${error.message}`, { cause: error });
    }
  };
  const valueOf = ({ key, text, value: stored }: VersionedEntry): Value => {
    if (stored.length < sealBytes) return open(key, stored);
    const header = headerText(stored);
    const cached = cache.get(header);
    if (cached?.text === text) return cached.value;
    const value = open(key, stored);
    cache.offer(header, messageId(stored), { text, value });
    return value;
  };
  return {
    encode: (key, text, value) => (isPlain(text) ? value : seal(key, text, value)),
    decodeEntry: (entry) => (isPlain(entry.text) ? entry : new EncryptedEntry(entry, valueOf)),
  };
}

/** Decrypted values in memory, by the header of the encrypted one.
 *
 *  No other message ever has the same header, so an entry is never stale: also after a failover to
 *  a standby without the last commits, or a restore, a header that is read leads to its own value
 *  or to none. A key with its revision would not do: a commit that fails after the encryption
 *  leaves its revision to another one. While a value is cached, a change of its stored bytes
 *  after the header is not noticed. */
class ValueCache {
  readonly #values: RecentMap<CachedValue>;
  readonly #readOnce: ReadOnce;
  readonly #copies = new ValueSlabs();

  constructor(bytesMax: number) {
    this.#values = new RecentMap(bytesMax, {
      weigh: (_, cached) => weightOf(cached),
      // Otherwise one value that is read all the time would keep the slab of many evicted ones.
      renew: ({ text, value }) => ({ text, value: this.#copies.copy(value) }),
    });
    this.#readOnce = new ReadOnce({ bytesMax, bytesPerSlot });
  }

  get(header: string): CachedValue | undefined {
    return this.#values.get(header);
  }

  /** Keeps a copy: the value may be a part of a larger array, which would stay in memory. */
  add(header: string, { text, value }: CachedValue): void {
    if (value.length > cachedValueBytesMax) return;
    this.#values.set(header, { text, value: this.#copies.copy(value) });
  }

  /** Adds a value that was decrypted if it was before: to keep every one costs half as much as to
   *  decrypt it. */
  offer(header: string, id: number, cached: CachedValue): void {
    if (cached.value.length > cachedValueBytesMax) return;
    if (this.#readOnce.addOrFind(id, weightOf(cached))) this.add(header, cached);
  }
}

function weightOf({ text, value }: CachedValue): number {
  return text.length + value.length + bytesPerCached;
}

/** Copies of values as parts of shared memory: a buffer for each one would outlive many collections
 *  outside the heap, and cause collections of the whole heap. A slab is freed when the values in it
 *  are evicted, which happens to all at about the same time: the cache evicts a whole generation,
 *  and copies those values of it that are still in use. */
class ValueSlabs {
  #slab = new Uint8Array(0);
  #used = 0;

  copy(value: Value): Value {
    if (this.#used + value.length > this.#slab.length) {
      this.#slab = new Uint8Array(slabBytes);
      this.#used = 0;
    }
    const copied = this.#slab.subarray(this.#used, this.#used + value.length);
    copied.set(value);
    this.#used += value.length;
    return copied;
  }
}

/** An entry whose value is decrypted when it is read: most entries of a validation, and those of a
 *  listing whose rendering is cached, never are. */
class EncryptedEntry implements VersionedEntry {
  readonly text: KeyText;
  readonly revision: number;
  readonly #entry: VersionedEntry;
  readonly #open: (entry: VersionedEntry) => Value;
  #value: Value | undefined;

  constructor(entry: VersionedEntry, open: (entry: VersionedEntry) => Value) {
    this.text = entry.text;
    this.revision = entry.revision;
    this.#entry = entry;
    this.#open = open;
  }

  get key(): Key {
    return this.#entry.key;
  }

  get value(): Value {
    this.#value ??= this.#open(this.#entry);
    return this.#value;
  }
}

/** Wraps an engine so that it stores its values encrypted by `codec`. */
export function encodedEngine(engine: Engine, codec: ValueCodec): Engine {
  return {
    open: () => new EncodedView(engine.open(), codec),
    commit: (decide, writesExpected) =>
      engine.commit((current) => {
        const batch = decide(new EncodedReader(current, codec));
        return batch && encodedBatch(batch, codec);
      }, writesExpected),
    close: () => engine.close(),
  };
}

function encodedBatch(batch: EngineBatch, codec: ValueCodec): EngineBatch {
  const writes = batch.writes.map((write): EngineWrite => {
    const { key, text, value, revision } = write;
    return value === undefined
      ? write
      : { key, text, value: codec.encode(key, text, value), revision };
  });
  return { ...batch, writes };
}

export class EncodedReader<R extends EngineReader = EngineReader> implements EngineReader {
  readonly sequence: number;
  readonly ticks: EngineReader["ticks"];
  readonly clockOffset: EngineReader["clockOffset"];
  readonly priorityOwner: number;
  protected readonly inner: R;
  readonly #codec: ValueCodec;

  constructor(inner: R, codec: ValueCodec) {
    this.sequence = inner.sequence;
    this.ticks = inner.ticks;
    this.clockOffset = inner.clockOffset;
    this.priorityOwner = inner.priorityOwner;
    this.inner = inner;
    this.#codec = codec;
  }

  get(key: Key, text: KeyText): VersionedEntry | undefined {
    const found = this.inner.get(key, text);
    return found && this.#codec.decodeEntry(found);
  }

  scan(bounds: Parameters<EngineReader["scan"]>[0], countMax: number): VersionedEntry[] {
    return this.inner.scan(bounds, countMax).map((entry) => this.#codec.decodeEntry(entry));
  }

  changedSince(sequence: number): (firstByte: number) => boolean {
    return this.inner.changedSince?.(sequence) ?? (() => true);
  }
}

class EncodedView extends EncodedReader<EngineView> implements EngineView {
  close(): void {
    this.inner.close();
  }
}
