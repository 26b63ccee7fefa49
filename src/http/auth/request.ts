import type { ServiceName } from "../../protocol/names.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import type { VersionPolicy } from "../../protocol/versions.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { TokenVerdict } from "./tokens/token-verifier.ts";

/** The parts of a request that authentication reads. Parts of a batch and requests for copy sources
 *  are authenticated, too. */
export interface AuthRequest extends SignableRequest {
  readonly service: ServiceName;
  readonly resource: AddressedResource;
  /** Whether the connection uses TLS. */
  readonly secure: boolean;
  readonly remoteAddress: string | undefined;
  readonly wallNow: Ticks;
  /** Wall-clock time of the clients, if the server's is ahead on purpose. */
  readonly clientNow?: Ticks | undefined;
  /** The result of verifying the bearer token; undefined if tokens are not verified. */
  readonly token?: TokenVerdict | undefined;
}

/** The resource that the path below the account names; both fields are undefined for the service
 *  itself. */
export interface AddressedResource {
  /** The container (also `$root`), share, queue or table. */
  readonly name?: string | undefined;
  /** The blob, file or directory in it; undefined if the path names none. */
  readonly path?: string | undefined;
}

/** `basic`: the claims of bearer tokens are checked, their signature is not. `verify`: both. */
export type OAuthMode = "basic" | "verify";

/** The settings of a service for the authentication of requests. */
export interface AuthOptions {
  readonly sharedKeyAllowed: boolean;
  /** How bearer tokens are checked; undefined: they are rejected. */
  readonly oauth: OAuthMode | undefined;
  /** Decides which values of `sv` a SAS may have. */
  readonly versions: VersionPolicy;
}
