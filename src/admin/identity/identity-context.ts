import type { IdentitySettings } from "../../account/identity.ts";
import type { Clock, Log } from "../../base/world.ts";
import type { LocalIdentity } from "./local-identity.ts";
import type { TokenIssuer } from "./token-issuer.ts";

export interface IdentityContext {
  /** The current principals. */
  readonly identity: () => IdentitySettings;
  readonly local: LocalIdentity;
  readonly issuer: TokenIssuer;
  readonly clock: Clock;
  readonly log: Log;
  /** The address of the admin listener. */
  readonly address: () => string;
  /** Its HTTPS address, which client libraries require of an authority; undefined without one. */
  readonly secureAddress: () => string | undefined;
  /** The file with the certificate authority that clients must trust; undefined without one. */
  readonly authorityFile: string | undefined;
}
