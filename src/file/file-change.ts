/** A change of a file or directory by an SMB client, for the request feed of the admin listener.
 *  `smb/audit/smb-auditor.ts` reports it. */
export interface FileChange {
  /** The SMB command: "CREATE", "SET_INFO" or "CLOSE". */
  readonly operation: string;
  readonly account: string;
  readonly share: string;
  readonly path: readonly string[];
  /** Remote address and port of the SMB client. */
  readonly client: string;
}

export type ReportFileChange = (change: FileChange) => void;
