/** A request body. */
export interface Body extends AsyncIterable<Uint8Array> {
  /** Reads a whole small body with a declared length, for which an asynchronous iterator would cost
   *  more than the bytes. Returns fewer bytes if the body is shorter. Absent if the source cannot
   *  do this. */
  readonly whole?: (length: number) => Promise<Uint8Array>;
}
