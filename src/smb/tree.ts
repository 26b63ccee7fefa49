import type { ShareAddress } from "../file/filesystem/file-transaction.ts";

/** A share, or the door to the server's own services, as one session sees it. */
export interface TreeConnect {
  readonly id: number;
  readonly kind: "disk" | "pipe";
  readonly shareName: string;
  readonly shareId: bigint;
  readonly address: ShareAddress;
  readonly requiresEncryption: boolean;
}
