import type { LoginMethod } from "../api-types.ts";
import type { PrincipalSettings } from "../../account/identity.ts";
import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { acceptToken } from "../../http/auth/tokens/accept-token.ts";
import type { VerifiedToken } from "../../http/auth/tokens/token-verifier.ts";
import { oauthMode } from "../../http/request/target.ts";
import type { BearerPrincipal } from "../../protocol/principal.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { HttpServices } from "../admin-context.ts";
import { issueToken, type IdentityContext, type IssuedToken } from "../identity/token-issuer.ts";
import type { PrincipalGrant } from "./grant.ts";
import { isSameSecret } from "./admin-auth.ts";

/** Options of `PrincipalLogin`, with which users log in to the explorer as a principal, to see and
 *  do what its roles permit. */
interface PrincipalLoginOptions {
  readonly clock: Clock;
  readonly httpServices: HttpServices;
  readonly identity?: IdentityContext | undefined;
}

/** The audience of tokens for all accounts and services of Azure Storage. */
const audience = "https://storage.azure.com";
/** A token is replaced this long before it expires, because a request may take some time. */
const renewBeforeSeconds = 300;

/** Logs principals in to the admin API: with the secret of a local principal, or with a bearer
 *  token. Possible only if the services verify tokens; otherwise they would accept any
 *  principal. */
export class PrincipalLogin {
  readonly #options: PrincipalLoginOptions;

  constructor(options: PrincipalLoginOptions) {
    this.#options = options;
  }

  get methods(): readonly LoginMethod[] {
    if (this.#tokens === undefined) return [];
    const hasLocal = this.#principals.some(({ secret }) => secret !== undefined);
    return hasLocal ? ["principal", "bearer"] : ["bearer"];
  }

  /** Logs in with name and secret; undefined if the principal is unknown or the secret is wrong. */
  withSecret(name: string, secret: string): PrincipalGrant | undefined {
    const found = this.#find(name);
    // Compared also for an unknown principal, so that the time does not reveal whether it exists.
    const isRight = isSameSecret(secret, found?.secret ?? "");
    return found?.secret !== undefined && isRight ? this.#grantOf(found) : undefined;
  }

  /** Logs in without a secret; only for a caller that administers the server. */
  withName(name: string): PrincipalGrant | undefined {
    const found = this.#find(name);
    return found && this.#grantOf(found);
  }

  /** Logs in with a bearer token. Undefined if the token is not accepted. */
  async withToken(token: string): Promise<PrincipalGrant | undefined> {
    const tokens = this.#tokens;
    const verdict = await tokens?.verify(token);
    if (tokens === undefined || verdict === undefined || verdict.refusal !== undefined) {
      return undefined;
    }
    const { objectId } = verdict;
    const callerIn = (account?: string, service?: ServiceName): BearerPrincipal | undefined =>
      tokens.isTrusted(verdict) ? this.#callerOf(verdict, account, service) : undefined;
    const isAccepted = (): boolean => callerIn() !== undefined;
    if (!isAccepted()) return undefined;
    return {
      kind: "principal",
      name: this.#find(objectId)?.name ?? objectId,
      objectId,
      get assigneeIds() {
        return [objectId, ...(callerIn()?.groups ?? [])];
      },
      isAccepted,
      isFor: (account, service) => callerIn(account, service) !== undefined,
      token: () => Promise.resolve(token),
    };
  }

  /** The caller that a verified token identifies; undefined if no service accepts the token now.
   *  Without `account` or `service`, it suffices that one of them accepts it. */
  #callerOf(
    token: VerifiedToken,
    account: string | undefined,
    service: ServiceName | undefined,
  ): BearerPrincipal | undefined {
    const now = this.#nowSeconds();
    const { httpServices } = this.#options;
    const services = Object.keys(httpServices) as ServiceName[];
    const [http] = Object.values(httpServices);
    for (const name of account === undefined ? (http?.accounts.names() ?? []) : [account]) {
      for (const each of service === undefined ? services : [service]) {
        const caller = acceptToken(token, { account: name, service: each, now });
        if (typeof caller !== "string") return caller;
      }
    }
    return undefined;
  }

  get #tokens() {
    const [http] = Object.values(this.#options.httpServices);
    return http !== undefined && oauthMode(http) === "verify" ? http.tokens : undefined;
  }

  get #principals(): readonly PrincipalSettings[] {
    return this.#options.identity?.identity().principals ?? [];
  }

  #find(name: string): PrincipalSettings | undefined {
    if (this.#tokens === undefined) return undefined;
    const wanted = name.toLowerCase();
    return this.#principals.find(
      (each) =>
        each.name === name ||
        each.objectId.toLowerCase() === wanted ||
        each.clientId.toLowerCase() === wanted,
    );
  }

  #nowSeconds(): number {
    return Number((this.#options.clock.wall() - unixEpochTicks) / ticksPerSecond);
  }

  #grantOf({ name, objectId, secret }: PrincipalSettings): PrincipalGrant {
    let issued: Promise<IssuedToken> | undefined;
    const isAccepted = (): boolean => {
      const current = this.#find(objectId);
      return current?.name === name && current.secret === secret;
    };
    const token = async (): Promise<string> => {
      const last = await issued?.catch(() => undefined);
      if (last === undefined || last.expiresOn - renewBeforeSeconds < this.#nowSeconds()) {
        issued = this.#issue(objectId);
      }
      return (await issued)?.accessToken ?? "";
    };
    const groups = (): readonly string[] => this.#find(objectId)?.groups ?? [];
    return {
      kind: "principal",
      name,
      objectId,
      // The current groups: a principal may be removed from one.
      get assigneeIds() {
        return [objectId, ...groups()];
      },
      isAccepted,
      isFor: () => true,
      token,
    };
  }

  #issue(objectId: string): Promise<IssuedToken> {
    const { identity } = this.#options;
    const principal = this.#find(objectId);
    if (identity === undefined || principal === undefined) {
      throw new Error(`no local principal ${objectId}`);
    }
    return issueToken(identity, principal, audience);
  }
}
