import type { FileReference } from "../../file/filesystem/file-reference.ts";
import type { FileId } from "../response.ts";
import type { Connection } from "../connection.ts";
import type { Session, TreeConnect } from "../session.ts";
import type { DirectoryWatch } from "./directory-watch.ts";
import type { Listing } from "./directory-entry.ts";
import type { LeaseContext } from "../wire/create.ts";

/** An open file or directory of an SMB client. The lock record of the file has the same open under
 *  `id.persistent`. */
export interface FileHandle {
  readonly kind: "file";
  readonly id: FileId;
  tree: TreeConnect;
  session: Session;
  connection: Connection;
  readonly reference: FileReference;
  /** The path of the CREATE, in the client's case. */
  readonly path: readonly string[];
  /** Granted access rights ([MS-SMB2] 2.2.13.1). */
  readonly access: number;
  readonly isDirectory: boolean;
  /** CreateOptions of the CREATE; SET_INFO may change the mode bits. */
  options: number;
  readonly cache: HandleCachingGrant | undefined;
  durable: Durability | undefined;
  listing: Listing | undefined;
  watch: DirectoryWatch | undefined;
  /** FilePositionInformation: the end of the last READ, or what the client has set. */
  position: bigint;
  /** The highest ChannelSequence of its requests. The client increments it each time it loses a
   *  channel. */
  channelSequence: number;
  /** Running requests with the current ChannelSequence (Open.OutstandingRequestCount). */
  pendingRequests: number;
  /** Running requests with an older ChannelSequence (Open.OutstandingPreRequestCount). */
  pendingOlderRequests: number;
  /** Open.LockSequenceArray: the last LockSequenceNumber by LockSequenceIndex. */
  readonly lockNumbers: Map<number, number>;
  /** Allocation size that the client requested; may be larger than the file. */
  reservedBytes: number;
  /** Whether writes leave the last write time as it is, because the client has set it. */
  keepsLastWrite: boolean;
  /** Whether setting attributes leaves the change time as it is, because the client has set it.
   *  Writes still change it. */
  keepsChangeTime: boolean;
}

/** The handle as the operations of `file/filesystem` take it. */
export function requestOn({ reference, id, keepsLastWrite }: FileHandle) {
  return { reference, handle: id.persistent, keepsLastWrite };
}

/** The caching grant of a handle: an SMB lease, which several handles may share, or an oplock of
 *  this handle only. */
export interface HandleCachingGrant {
  /** Key of the grant in the lock record. */
  readonly key: string;
  /** The lease key that the client sent, and the version of its lease context; undefined for an
   *  oplock. */
  readonly lease: Pick<LeaseContext, "key" | "version"> | undefined;
}

/** How long a durable handle stays open without a connection, and the CreateGuid by which its
 *  client reclaims it (version 2 only). */
export interface Durability {
  readonly version: 1 | 2;
  readonly milliseconds: number;
  readonly createGuid: string | undefined;
}
