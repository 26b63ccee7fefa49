import type { AccountSettings, Accounts } from "../account/settings.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Address, Operation } from "../operation/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Service } from "../operation/service.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import type { Clock, Log } from "../base/world.ts";
import type { Call, Runtime } from "../operation/execute.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { Location, LocationOptions } from "./location.ts";
import type { Observer, TransactionParts } from "./observer.ts";
import type { Router } from "./routing.ts";
import type { Sources } from "./source/source-reader.ts";

/** What the pipeline of one service works with. */
export interface HttpService {
  readonly service: Service;
  readonly router: Router;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  readonly sources: Sources;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly observer?: Observer;
  /** What the bodies of all requests may hold. */
  readonly memory?: MemoryBudget;
  readonly options: HttpServiceOptions;
}

export interface HttpServiceOptions {
  readonly versions: VersionPolicy;
  readonly productStyle: boolean;
  readonly oauth: "basic" | undefined;
}

/** How far a request came; the renderer tells the client as much as is known. */
export interface RequestState {
  readonly requestId: string;
  version?: string;
  operation?: Operation;
  principal?: Principal;
  cors?: readonly CorsRule[];
  call?: Call;
  /** Of a request that holds several operations. */
  parts?: TransactionParts;
}

/** Where a request points, and the version it runs under. */
export interface RequestTarget {
  readonly location: Location;
  readonly address: Address;
  readonly version: string;
}

/** Who asks, and the account that is asked for. */
export interface AuthenticatedCaller {
  readonly principal: Principal;
  readonly settings: AccountSettings;
}

const locating = new WeakMap<HttpService, LocationOptions>();

/** Made once for each door: every request asks for them. */
export function locationOptions(door: HttpService): LocationOptions {
  const known = locating.get(door);
  if (known !== undefined) return known;
  const { service, accounts, options } = door;
  const made = {
    service: service.name,
    productStyle: options.productStyle,
    isAccount: (account: string) => accounts.get(account) !== undefined,
  };
  locating.set(door, made);
  return made;
}
