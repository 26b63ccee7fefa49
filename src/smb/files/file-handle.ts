import type { FilePlace } from "../../file/filesystem/file-transaction.ts";
import type { FileId } from "../response.ts";
import type { Connection } from "../connection.ts";
import type { Session } from "../session.ts";
import type { TreeConnect } from "../tree.ts";
import type { DirectoryWatch } from "./directory-watch.ts";
import type { Listing } from "./listing.ts";

/** A file or directory that a client has open. Its persistent id is the one in the file's locks. */
export interface FileHandle {
  readonly kind: "file";
  readonly id: FileId;
  tree: TreeConnect;
  session: Session;
  connection: Connection;
  readonly place: FilePlace;
  /** As it was opened, in the spelling of the client. */
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
  /** Requests that run with the present ChannelSequence (Open.OutstandingRequestCount). */
  pendingRequests: number;
  /** Requests that still run with an older one (Open.OutstandingPreRequestCount). */
  pendingOlderRequests: number;
  /** The last number that was used in each of the client's slots for locking. */
  readonly lockNumbers: Map<number, number>;
  /** What the client asked to set aside beyond the end of the file. */
  reservedBytes: number;
  /** The client has set the time of the last write, or asked to leave it alone. */
  keepsTimes: boolean;
  /** The same of the time of the last change. */
  keepsChange: boolean;
}

/** What a handle caches under: a lease that several handles share, or an oplock of its own. */
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

/** How long a handle outlives its connection, and who may take it up again. */
export interface Durability {
  readonly version: 1 | 2;
  readonly milliseconds: number;
  readonly createGuid: string | undefined;
}
