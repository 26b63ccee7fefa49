import type { Connection } from "./connection.ts";
import type { Signer } from "./crypto/signing.ts";
import type { Login } from "./ntlm/login.ts";
import type { Session } from "./session.ts";

/** A session as one connection carries it: each has a login and a signing key of its own. */
export class Channel {
  readonly session: Session;
  readonly connection: Connection;
  /** Its login is done; before that it carries nothing but the login. */
  isValid = false;
  /** Runs while the client logs in, for the first time or again. */
  login: Login | undefined;
  preauthHash: Buffer;
  /** Until its login is done, a further channel signs with the session's first key. */
  signer: Signer | undefined;

  constructor(session: Session, connection: Connection) {
    this.session = session;
    this.connection = connection;
    this.preauthHash = connection.preauthHash;
    this.signer = session.signer;
  }
}
