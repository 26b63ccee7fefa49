import type { ShareAddress } from "../file/filesystem/file-reference.ts";

/** A tree connect of a session: a share, or IPC$ with the named pipes. */
export interface TreeConnect {
  readonly id: number;
  readonly kind: "disk" | "pipe";
  readonly shareName: string;
  readonly shareId: bigint;
  readonly address: ShareAddress;
  readonly requiresEncryption: boolean;
}
