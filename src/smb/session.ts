import type { Connection, NegotiatedParameters } from "./connection.ts";
import type { Encryptor, Signer } from "./crypto/session-keys.ts";
import type { RequestLifetime } from "./request.ts";
import type { ShareAddress } from "../file/filesystem/file-reference.ts";
import type { Login } from "./ntlm/login.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { PipeHandle } from "./pipe/rpc.ts";
import type { SmbServerState } from "./server.ts";

/** Sessions (logins of SMB clients), their channels (connections) and tree connects (shares). */

/** A tree connect of a session: a share, or IPC$ with the named pipes. */
export interface TreeConnect {
  readonly id: number;
  readonly kind: "disk" | "pipe";
  /** The share. For IPC$ only the name is set. */
  readonly share: ShareAddress;
}

/** One session on one connection ([MS-SMB2] 3.3.1.14): its authentication and its signing key. A
 *  client with several connections may use a session on all of them. */
export class Channel {
  readonly session: Session;
  readonly connection: Connection;
  /** Whether authentication is complete; until then the channel accepts only SESSION_SETUP. */
  isValid = false;
  /** The login in progress; undefined when the client has authenticated. */
  login: Login | undefined;
  /** SHA-512 over NEGOTIATE and login messages, from which dialect 3.1.1 derives keys. */
  preauthHash: Buffer;
  /** Signs the messages of the channel: with the key of the session until the channel is bound,
   *  then with its own. */
  signer: Signer | undefined;

  constructor(session: Session, connection: Connection) {
    this.session = session;
    this.connection = connection;
    this.preauthHash = connection.preauthHash;
    this.signer = session.signer;
  }
}

/** The login of a client, on one or more connections ([MS-SMB2] 3.3.1.8). */
export class Session {
  readonly id: bigint;
  /** Parameters of its first connection. Other connections must have the same ones to bind a
   *  channel. */
  readonly negotiated: NegotiatedParameters;
  /** Storage account; empty until authentication is complete. */
  account = "";
  isValid = false;
  /** Whether the client authenticated again as anonymous: then it may use only its existing handles
   *  and tree connects. */
  isAnonymous = false;
  /** Signer of the first channel. A connection that is being bound signs SESSION_SETUP with it. */
  signer: Signer | undefined;
  encryptor: Encryptor | undefined;
  signingRequired = false;
  /** Whether unencrypted requests are rejected (Session.EncryptData). */
  requiresEncryption = false;
  readonly channels = new Set<Channel>();
  readonly trees = new Map<number, TreeConnect>();
  /** Open handles, by volatile id. */
  readonly handles = new Map<bigint, Handle>();
  /** Pending requests that are cancelled with the session, not with their connection. */
  readonly #pending = new Set<RequestLifetime>();
  #lastTreeId = 0;

  constructor(id: bigint, negotiated: NegotiatedParameters) {
    this.id = id;
    this.negotiated = negotiated;
  }

  /** Lets a request continue if its connection is lost, until the session ends. */
  keepPending(lifetime: RequestLifetime): void {
    lifetime.outlivesConnection = true;
    this.#pending.add(lifetime);
  }

  dropPending(lifetime: RequestLifetime): void {
    this.#pending.delete(lifetime);
  }

  cancelPending(): void {
    for (const lifetime of this.#pending) lifetime.cancel();
  }

  nextTreeId(): number {
    this.#lastTreeId += 1;
    return this.#lastTreeId;
  }

  /** An open connection of the session, for a notification: the preferred one, else another.
   *  Undefined if the session has none. */
  connectionFor(preferred: Connection): Connection | undefined {
    if (!this.isValid) return undefined;
    if (preferred.isOpen) return preferred;
    for (const { isValid, connection } of this.channels) {
      if (isValid && connection.isOpen) return connection;
    }
    return undefined;
  }
}

/** What a FileId refers to: an open of a file, directory or named pipe ([MS-SMB2] 3.3.1.10). */
export type Handle = FileHandle | PipeHandle;

/** What happens to the handles of a session that ends. `close`: every handle is closed, because an
 *  administrator ended the session or its authentication failed. `keep-durable`: durable handles
 *  stay open so that the client can reconnect to them; all others are closed. This applies after a
 *  lost connection, after LOGOFF, and if a new session of the same account names this one as its
 *  PreviousSessionId. */
type HandleDisposition = "close" | "keep-durable";

/** Ends a session with its channels, tree connects, kept requests and handles. */
export async function endSession(
  server: SmbServerState,
  session: Session,
  disposition: HandleDisposition,
): Promise<void> {
  session.isValid = false;
  session.cancelPending();
  if (server.sessions.get(session.id) === session) server.sessions.delete(session.id);
  for (const channel of session.channels) channel.connection.removeChannel(channel);
  session.channels.clear();
  const files: FileHandle[] = [];
  for (const handle of session.handles.values()) {
    if (handle.kind === "pipe") continue;
    if (disposition === "keep-durable" && server.durableHandles.keep(handle)) continue;
    files.push(handle);
  }
  session.handles.clear();
  session.trees.clear();
  await server.handleCloser.close(files);
}

/** Removes a channel from its session; the session ends with its last valid channel. */
export async function removeChannel(server: SmbServerState, channel: Channel): Promise<void> {
  const { session, connection } = channel;
  session.channels.delete(channel);
  connection.removeChannel(channel);
  if ([...session.channels].some(({ isValid }) => isValid)) return;
  await endSession(server, session, "keep-durable");
}
