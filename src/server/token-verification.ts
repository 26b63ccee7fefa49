import { TokenVerifier } from "../http/auth/tokens/token-verifier.ts";
import { TrustedIssuers } from "../http/auth/tokens/trusted-issuers.ts";
import type { RunningServerOptions } from "./running-server.ts";

/** One verifier for all services: they share the cached verdicts. */
export function openTokenVerifier(given: RunningServerOptions): TokenVerifier {
  const { accounts, clock, log } = given;
  const identity = () => accounts.identity();
  return new TokenVerifier(new TrustedIssuers({ identity, local: undefined, clock, log }));
}
