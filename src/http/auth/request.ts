import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import type { VersionPolicy } from "../../protocol/versions.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { TokenVerdict } from "./tokens/token-verifier.ts";

/** The parts of a request that authentication reads. A part of a batch and the source of a copy are
 *  requests, too. */
export interface AuthRequest extends SignableRequest {
  readonly service: ServiceName;
  readonly resource: AddressedResource;
  /** Whether the connection uses TLS. */
  readonly secure: boolean;
  readonly remoteAddress: string | undefined;
  readonly wallNow: Ticks;
  /** The result of verifying the bearer token; undefined if tokens are not verified. */
  readonly token?: TokenVerdict | undefined;
}

/** The decoded path below the account; both parts are undefined for the service itself. */
export interface AddressedResource {
  /** The container (also `$root`), share, queue or table. */
  readonly name?: string | undefined;
  /** The blob, or the file or directory. */
  readonly path?: string | undefined;
}

/** `basic`: the claims of bearer tokens are checked, their signature is not. `verify`: both. */
export type OAuthMode = "basic" | "verify";

export interface AuthOptions {
  readonly sharedKeyAllowed: boolean;
  readonly oauth: OAuthMode | undefined;
  /** Which versions a token may name. */
  readonly versions: VersionPolicy;
}
