import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import type { VersionPolicy } from "../../protocol/versions.ts";
import type { Ticks } from "../../base/ticks.ts";

/** The parts of a request that authentication reads. A part of a batch and the source of a copy are
 *  requests, too. */
export interface AuthRequest extends SignableRequest {
  readonly service: ServiceName;
  readonly resource: AddressedResource;
  /** Whether the connection uses TLS. */
  readonly secure: boolean;
  readonly remoteAddress: string | undefined;
  readonly wallNow: Ticks;
}

/** The decoded path below the account; both parts are undefined for the service itself. */
export interface AddressedResource {
  /** The container (also `$root`), share, queue or table. */
  readonly name?: string | undefined;
  /** The blob, or the file or directory. */
  readonly path?: string | undefined;
}

export interface AuthOptions {
  readonly sharedKeyAllowed: boolean;
  /** `basic`: the claims of bearer tokens are checked, their signature is not. */
  readonly oauth: "basic" | undefined;
  /** Which versions a token may name. */
  readonly versions: VersionPolicy;
}
