import type { Connection } from "./connection.ts";
import type { Signer } from "./crypto/signing.ts";
import type { Login } from "./ntlm/login.ts";
import type { Session } from "./session.ts";

/** One session on one connection ([MS-SMB2] 3.3.1.14): its authentication and its signing key. */
export class Channel {
  readonly session: Session;
  readonly connection: Connection;
  /** Whether authentication is complete; until then the channel accepts only SESSION_SETUP. */
  isValid = false;
  /** Set while the client authenticates or re-authenticates. */
  login: Login | undefined;
  preauthHash: Buffer;
  /** Signs the messages of the channel. While a channel is being bound, it uses the key of the
   *  session. */
  signer: Signer | undefined;

  constructor(session: Session, connection: Connection) {
    this.session = session;
    this.connection = connection;
    this.preauthHash = connection.preauthHash;
    this.signer = session.signer;
  }
}
