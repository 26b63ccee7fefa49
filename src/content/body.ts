/** Bytes on their way in. */
export interface Body extends AsyncIterable<Uint8Array> {
  /** All of them, where the announced length is small: without the steps of an iterator, which cost
   *  more than the bytes. Fewer come back if the announcement was wrong. */
  readonly whole?: (length: number) => Promise<Uint8Array>;
}
