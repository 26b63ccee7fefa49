import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Service } from "../operation/service.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import type { Clock, Log } from "../base/world.ts";
import type { Runtime } from "../operation/execute.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { OAuthMode } from "./auth/request.ts";
import type { TokenVerifier } from "./auth/tokens/token-verifier.ts";
import type { LocationOptions } from "./location.ts";
import type { Observer } from "./observer.ts";
import type { Router } from "./routing.ts";
import type { Sources } from "./source/source-reader.ts";

/** One service as the HTTP listeners serve it: its declarations and what their execution needs. */
export interface HttpService {
  readonly service: Service;
  readonly router: Router;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  /** Verifies bearer tokens, unless `options.oauth` is `basic`. */
  readonly tokens?: TokenVerifier | undefined;
  readonly sources: Sources;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly observer?: Observer;
  /** Limits the bytes of all request bodies that are in memory. */
  readonly memory?: MemoryBudget;
  readonly options: HttpServiceOptions;
}

export interface HttpServiceOptions {
  readonly versions: VersionPolicy;
  readonly productStyle: boolean;
  readonly oauth: OAuthMode | undefined;
}

const optionsOfService = new WeakMap<HttpService, LocationOptions>();

/** Created once per service because every request needs them. */
export function locationOptions(http: HttpService): LocationOptions {
  const existing = optionsOfService.get(http);
  if (existing !== undefined) return existing;
  const { service, accounts, options } = http;
  const created = {
    service: service.name,
    productStyle: options.productStyle,
    isAccount: (account: string) => accounts.get(account) !== undefined,
  };
  optionsOfService.set(http, created);
  return created;
}
