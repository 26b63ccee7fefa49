import type { Clock, Log } from "../../../base/world.ts";
import {
  defaultClaims,
  developerPrincipal,
  type IdentitySettings,
  type IssuerSettings,
} from "../../../account/identity.ts";
import { RemoteKeys, type FetchDocument } from "./remote-keys.ts";
import type { KeySource } from "./verification-keys.ts";

/** An issuer whose tokens are accepted, with its keys. */
export interface TrustedIssuer extends Pick<IssuerSettings, "audiences" | "accounts" | "claims"> {
  readonly keys: KeySource;
  /** The present groups of a principal of the issuer; undefined if it does not exist any more. Only
   *  the local issuer knows them: for others, those of the token count. */
  readonly groupsOf?: ((objectId: string) => readonly string[] | undefined) | undefined;
}

/** The issuer of the local token service. */
export interface LocalIssuer {
  readonly keys: KeySource;
  /** Whether this is the `iss` of one of its tokens. The address of the server may change. */
  isIssuer(issuer: string): boolean;
}

export interface TrustedIssuersOptions {
  readonly identity: () => IdentitySettings;
  readonly local: LocalIssuer | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetchDocument?: FetchDocument | undefined;
}

/** The issuers of the current configuration. An issuer that a reload does not change keeps its
 *  keys. */
export class TrustedIssuers {
  readonly #options: TrustedIssuersOptions;
  readonly #localIssuer: TrustedIssuer | undefined;
  #settings: readonly IssuerSettings[] | undefined;
  /** The configuration that `#isConfigured` and `#groups` were derived from. */
  #identity: IdentitySettings | undefined;
  #isConfigured = false;
  /** Groups of the local principals by object id. */
  #groups: ReadonlyMap<string, readonly string[]> = new Map();
  #byName = new Map<string, TrustedIssuer & { readonly source: string }>();

  constructor(options: TrustedIssuersOptions) {
    this.#options = options;
    this.#localIssuer = options.local && {
      keys: options.local.keys,
      audiences: [],
      accounts: undefined,
      claims: defaultClaims,
      groupsOf: (objectId) => {
        this.#readIdentity();
        return this.#groups.get(objectId);
      },
    };
    this.#update();
  }

  /** Whether issuers or principals are configured. Tokens are then verified also without
   *  `--oauth`. */
  get isConfigured(): boolean {
    this.#readIdentity();
    return this.#isConfigured;
  }

  /** The issuer with this `iss`; undefined if it is not trusted. */
  find(issuer: string): TrustedIssuer | undefined {
    this.#update();
    // Configured issuers take precedence: the name of an Entra ID issuer may also match local ones.
    const configured = this.#byName.get(issuer);
    if (configured !== undefined) return configured;
    return this.#options.local?.isIssuer(issuer) === true ? this.#localIssuer : undefined;
  }

  /** Whether the issuer with this name is still configured unchanged, so that cached verdicts about
   *  its tokens remain valid. */
  isTrusted(issuer: TrustedIssuer, name: string): boolean {
    this.#update();
    return issuer === this.#localIssuer || this.#byName.get(name) === issuer;
  }

  close(): void {
    for (const { keys } of this.#byName.values()) keys.close();
    this.#localIssuer?.keys.close();
  }

  /** Derives the fields that depend on the configuration, once per loaded configuration. */
  #readIdentity(): void {
    const identity = this.#options.identity();
    if (identity === this.#identity) return;
    const { issuers, principals } = identity;
    this.#isConfigured =
      issuers.length > 0 || principals.some((each) => each !== developerPrincipal);
    this.#groups = new Map(principals.map(({ objectId, groups }) => [objectId, groups]));
    this.#identity = identity;
  }

  /** Applies a reloaded configuration. Costs one comparison if nothing was reloaded. */
  #update(): void {
    const { identity, clock, log, fetchDocument } = this.#options;
    const { issuers } = identity();
    if (issuers === this.#settings) return;
    this.#settings = issuers;
    const previous = this.#byName;
    this.#byName = new Map();
    for (const settings of issuers) {
      const source = JSON.stringify(settings);
      const known = previous.get(settings.issuer);
      if (known?.source === source) {
        previous.delete(settings.issuer);
        this.#byName.set(settings.issuer, known);
        continue;
      }
      const keys = new RemoteKeys({ issuer: settings, clock, log, fetchDocument });
      const { audiences, accounts, claims } = settings;
      this.#byName.set(settings.issuer, { keys, audiences, accounts, claims, source });
    }
    for (const { keys } of previous.values()) keys.close();
  }
}
