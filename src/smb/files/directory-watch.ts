/** What a client wants to hear about a directory; see the operation that waits for it. */
export interface DirectoryWatch {
  /** Ends what waits. */
  close(): void;
}
