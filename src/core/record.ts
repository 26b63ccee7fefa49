/** Turns a record into bytes and back. The first byte is the version; older ones are migrated on
 *  read, newer ones refused. */
export interface RecordCodec<R> {
  encode(record: R): Uint8Array;
  decode(bytes: Uint8Array): R;
}
