/** A change of a file or directory that a client has made over SMB, for the request feed. */
export interface FileChange {
  /** The SMB command: "CREATE", "SET_INFO" or "CLOSE". */
  readonly operation: string;
  readonly account: string;
  readonly share: string;
  readonly path: readonly string[];
  /** Remote address and port. */
  readonly client: string;
}

export type ReportFileChange = (change: FileChange) => void;
