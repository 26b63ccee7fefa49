import type { LocalIdentity } from "../admin/identity/local-identity.ts";
import { TokenVerifier } from "../http/auth/tokens/token-verifier.ts";
import { TrustedIssuers } from "../http/auth/tokens/trusted-issuers.ts";
import { IdentityFile } from "./identity-file.ts";
import type { RunningServerOptions } from "./running-server.ts";

export interface ServerIdentity {
  readonly local: LocalIdentity;
  /** One verifier for all services: they share the cached verdicts. */
  readonly tokens: TokenVerifier;
}

export function openIdentity(given: RunningServerOptions): ServerIdentity {
  const { accounts, clock, log, random, location } = given;
  const identity = () => accounts.identity();
  const local = new IdentityFile({ location, clock, random });
  return { local, tokens: new TokenVerifier(new TrustedIssuers({ identity, local, clock, log })) };
}
