import type { FileReference } from "../../file/filesystem/file-reference.ts";
import type { FileId } from "../response.ts";
import type { Connection } from "../connection.ts";
import type { Session } from "../session.ts";
import type { TreeConnect } from "../tree.ts";
import type { DirectoryWatch } from "./directory-watch.ts";
import type { Listing } from "./listing.ts";

/** An open of a file or directory. Its persistent id is that of the open in the lock record. */
export interface FileHandle {
  readonly kind: "file";
  readonly id: FileId;
  tree: TreeConnect;
  session: Session;
  connection: Connection;
  readonly reference: FileReference;
  /** The path of the CREATE, in the client's case. */
  readonly path: readonly string[];
  readonly access: number;
  readonly isDirectory: boolean;
  options: number;
  readonly cache: CacheHolding | undefined;
  durable: Durability | undefined;
  listing: Listing | undefined;
  watch: DirectoryWatch | undefined;
  position: bigint;
  /** The highest ChannelSequence of its requests: how often the client has lost a channel. */
  channelSequence: number;
  /** Running requests with the current ChannelSequence (Open.OutstandingRequestCount). */
  pendingRequests: number;
  /** Running requests with an older one (Open.OutstandingPreRequestCount). */
  pendingOlderRequests: number;
  /** Open.LockSequenceArray: the last LockSequenceNumber by LockSequenceIndex. */
  readonly lockNumbers: Map<number, number>;
  /** Requested allocation size; may exceed the end of the file. */
  reservedBytes: number;
  /** Writes leave the last write time alone, because the client has set it. */
  keepsLastWrite: boolean;
  /** The same for the change time. */
  keepsChangeTime: boolean;
}

/** The caching grant of a handle: a lease shared by handles, or an oplock of its own. */
export interface CacheHolding {
  readonly key: string;
  readonly lease: LeaseIdentity | undefined;
}

export interface LeaseIdentity {
  readonly key: Buffer;
  readonly version: 1 | 2;
  readonly parentKey: Buffer;
  readonly flags: number;
}

/** How long a handle outlives its connection, and the CreateGuid for the reconnect. */
export interface Durability {
  readonly version: 1 | 2;
  readonly milliseconds: number;
  readonly createGuid: string | undefined;
}
