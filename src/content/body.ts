/** A request body. */
export interface Body extends AsyncIterable<Uint8Array> {
  /** Reads a small body with a declared length at once: an asynchronous iterator costs more than
   *  the bytes. Returns fewer bytes if the body is shorter. */
  readonly whole?: (length: number) => Promise<Uint8Array>;
}
