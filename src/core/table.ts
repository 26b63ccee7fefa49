import type { RecordCodec } from "./record.ts";

/** One kind of record in the key space. `tag` is the first byte of all its keys and never reused. */
export interface Table<K, R> {
  readonly name: string;
  readonly tag: number;
  /** The tuple below the tag, e.g. `[containerId, blobName]`. */
  readonly key: (key: K) => Uint8Array;
  readonly codec: RecordCodec<R>;
  /** The field that refers to stored bytes, if any: the execution layer keeps its references. */
  readonly content?: keyof R & string;
}
