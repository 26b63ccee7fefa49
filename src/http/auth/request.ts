import type { ServiceName } from "../../protocol/names.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import type { VersionPolicy } from "../../protocol/versions.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { TokenVerdict } from "./tokens/token-verifier.ts";

/** The input of authentication: the request, the resource that it addresses, and the options of
 *  account and service. `http/request/target.ts` builds it for the `Authenticator`. */

/** The parts of a request that authentication reads. Parts of a batch and requests for copy sources
 *  are authenticated, too. */
export interface AuthRequest extends SignableRequest {
  readonly service: ServiceName;
  readonly resource: AddressedResource;
  readonly secure: boolean;
  readonly remoteAddress: string | undefined;
  readonly wallNow: Ticks;
  /** The time of the clients, with which they sign requests; undefined: `wallNow`. They differ if a
   *  test has moved the clock of the server. */
  readonly clientNow?: Ticks | undefined;
  /** The result of verifying the bearer token; undefined if tokens are not verified. */
  readonly token?: TokenVerdict | undefined;
}

/** The resource that the path below the account names; neither field is set for the service. */
export interface AddressedResource {
  /** The container (also `$root`), share, queue or table. */
  readonly name?: string | undefined;
  /** The blob, file or directory in it; undefined if the path names none. */
  readonly path?: string | undefined;
}

/** `basic`: the claims of bearer tokens are checked, their signature is not. `verify`: both. */
export type OAuthMode = "basic" | "verify";

/** What an account and a service permit in the authentication of a request. */
export interface AuthOptions {
  readonly sharedKeyAllowed: boolean;
  /** How bearer tokens are checked; undefined: they are rejected. */
  readonly oauth: OAuthMode | undefined;
  /** Decides which values of `sv` a SAS may have. */
  readonly versions: VersionPolicy;
}
