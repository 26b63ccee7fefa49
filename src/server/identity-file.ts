import { link, rename, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import {
  publishedKeys,
  type IdentityData,
  type LocalIdentity,
  type StoredKey,
} from "../admin/identity/token-issuer.ts";
import { newGuid } from "../operation/identifiers.ts";
import { ticksPerSecond, unixEpochTicks, type Ticks } from "../base/ticks.ts";
import type { Clock, Random } from "../base/world.ts";
import {
  importKeySet,
  KeySet,
  type VerificationKey,
} from "../http/auth/tokens/verification-keys.ts";
import { makePrivateFolder } from "../store/folders.ts";
import { systemErrorCode } from "../host/refused.ts";
import { TokenVerifier, TrustedIssuers } from "../http/auth/tokens/token-verifier.ts";
import type { RunningServerOptions } from "./running-server.ts";
import { replaceFile, readIfPresent } from "../host/files.ts";

/** Stores the keys and secrets of the local token service, which issues access tokens in place of
 *  Microsoft Entra ID (`admin/identity`). */

const secretBytes = 32;
const keyIdBytes = 8;
const assertionNameUnits = 32;
/** A key signs for 30 days. It is published a day longer, until its last tokens have expired. */
const keyLifeSeconds = 30 * 24 * 3600;
const keyOverlapSeconds = 24 * 3600;
/** Least time between reads of the file because of unknown key ids, which clients may invent. */
const rereadPause: Ticks = 5n * ticksPerSecond;
const issuerForm = /\/([0-9a-f-]{36})\/v2\.0$/;

interface LocalIdentityOptions {
  /** The data folder; undefined keeps everything in memory. */
  readonly location: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Keys and secrets of the local token service, in `identity/identity.json` of the data folder with
 *  mode 600. Created at the first use; other processes on the folder read the same file. */
export class IdentityFile implements LocalIdentity {
  readonly #options: LocalIdentityOptions;
  readonly #keySet = new KeySet();
  #data: Promise<IdentityData> | undefined;
  /** The creation of a new key; undefined if none is in progress. */
  #rotation: Promise<IdentityData> | undefined;
  #tenantId: string | undefined;
  #readAt: Ticks | undefined;

  constructor(options: LocalIdentityOptions) {
    this.#options = options;
  }

  readonly keys = {
    find: (id: string | undefined): VerificationKey | undefined => this.#keySet.find(id),
    has: (key: VerificationKey): boolean => this.#keySet.has(key),
    refresh: (): Promise<void> => this.#refresh(),
    close: (): void => {},
  };

  isIssuer(issuer: string): boolean {
    const tenantId = issuerForm.exec(issuer)?.[1];
    return tenantId !== undefined && tenantId === (this.#tenantId ?? tenantId);
  }

  load(): Promise<IdentityData> {
    this.#data ??= this.#take(this.#open());
    return this.#data;
  }

  async loadForSigning(): Promise<IdentityData> {
    const data = await this.load();
    if (this.#maySign(data)) return data;
    // Runs one rotation at a time, because a second one would replace the file in which the first
    // has stored its key.
    this.#rotation ??= this.#take(this.#rotate(data)).finally(() => (this.#rotation = undefined));
    this.#data = this.#rotation;
    return this.#rotation;
  }

  async writeAssertion(clientId: string, assertion: string): Promise<string | undefined> {
    const { location, random } = this.#options;
    if (location === undefined) return undefined;
    const folder = join(location, "identity");
    makePrivateFolder(folder);
    // The file name is a hash, because a client id may contain any characters.
    const name = createHash("sha256").update(clientId).digest("hex").slice(0, assertionNameUnits);
    const path = resolve(folder, `${name}.assertion`);
    await replaceFile({ random }, path, assertion);
    return path;
  }

  #maySign({ keys: [newest] }: IdentityData): boolean {
    return newest !== undefined && this.#now() - newest.createdAt < keyLifeSeconds;
  }

  async #refresh(): Promise<void> {
    const now = this.#options.clock.monotonic();
    const isEarly = this.#readAt !== undefined && now < this.#readAt + rereadPause;
    if (isEarly && this.#data !== undefined) return;
    this.#readAt = now;
    if (this.#data !== undefined && this.#options.location !== undefined) this.#data = undefined;
    await this.load();
  }

  /** Passes the keys to the verifier of tokens, once the data is loaded or created. After a failure
   *  the next use tries again. */
  async #take(opening: Promise<IdentityData>): Promise<IdentityData> {
    try {
      const data = await opening;
      this.#keySet.replace(await importKeySet(publishedKeys(data)));
      this.#tenantId = data.tenantId;
      return data;
    } catch (error) {
      this.#data = undefined;
      throw error;
    }
  }

  async #open(): Promise<IdentityData> {
    const { location, random } = this.#options;
    const found = location === undefined ? undefined : await readData(pathIn(location));
    if (found !== undefined) return found;
    const made: IdentityData = {
      tenantId: newGuid(random),
      developerSecret: Buffer.from(random.bytes(secretBytes)).toString("hex"),
      keys: [await this.#newKey()],
    };
    if (location === undefined) return made;
    return this.#write(location, made, async (written, path) => {
      // If another process has created the file since, `link` fails and the data of that process is
      // used.
      await link(written, path).catch(ignoreCode("EEXIST"));
    });
  }

  async #rotate(data: IdentityData): Promise<IdentityData> {
    const { location } = this.#options;
    if (location === undefined) return this.#withNewKey(data);
    const current = (await readData(pathIn(location))) ?? data;
    if (this.#maySign(current)) return current;
    return this.#write(location, await this.#withNewKey(current), replaceOnce(current));
  }

  async #withNewKey(data: IdentityData): Promise<IdentityData> {
    const oldest = this.#now() - keyLifeSeconds - keyOverlapSeconds;
    const kept = data.keys.filter(({ createdAt }) => createdAt >= oldest);
    return { ...data, keys: [await this.#newKey(), ...kept] };
  }

  async #write(location: string, data: IdentityData, place: Place): Promise<IdentityData> {
    const path = pathIn(location);
    makePrivateFolder(join(location, "identity"));
    await replaceFile(this.#options, path, JSON.stringify(data), place);
    return (await readData(path)) ?? data;
  }

  async #newKey(): Promise<StoredKey> {
    const { generateKeyPair, exportJWK } = await import("jose");
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    const id = Buffer.from(this.#options.random.bytes(keyIdBytes)).toString("hex");
    return { id, createdAt: this.#now(), privateKey: await exportJWK(privateKey) };
  }

  #now(): number {
    return Number((this.#options.clock.wall() - unixEpochTicks) / ticksPerSecond);
  }
}

/** Moves a written file to the final path. */
type Place = (written: string, path: string) => Promise<void>;

/** Replaces the file unless another process has replaced these data: a key that has signed tokens
 *  must not disappear. Processes agree on one successor by its name, which contains the key that it
 *  succeeds: the first that creates it wins, and any of them completes the replacement. */
function replaceOnce({ keys: [newest] }: IdentityData): Place {
  return async (written, path) => {
    const successor = `${path}.after-${newest?.id ?? ""}`;
    await link(written, successor).catch(ignoreCode("EEXIST"));
    const present = await readData(path);
    if (present?.keys[0]?.id !== newest?.id) return rm(successor, { force: true });
    await rename(successor, path).catch(ignoreCode("ENOENT"));
  };
}

function pathIn(location: string): string {
  return join(location, "identity", "identity.json");
}

function ignoreCode(code: string) {
  return (error: unknown): void => {
    if (systemErrorCode(error) !== code) throw error;
  };
}

async function readData(path: string): Promise<IdentityData | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  try {
    const data = JSON.parse(text) as Partial<IdentityData>;
    const { tenantId, developerSecret, keys } = data;
    if (tenantId !== undefined && developerSecret !== undefined && Array.isArray(keys)) {
      return { tenantId, developerSecret, keys };
    }
  } catch {
    // Reported below; the parser's message would quote the file.
  }
  throw new Error(`${path} is damaged; delete it to create new keys`);
}

export interface ServerIdentity {
  readonly local: LocalIdentity;
  /** One verifier for all services: they share the cached verdicts. */
  readonly tokens: TokenVerifier;
}

/** Opens the token service, and the verifier of bearer tokens that trusts it. */
export function openIdentity(given: RunningServerOptions): ServerIdentity {
  const { accounts, clock, log, random, location } = given;
  const identity = () => accounts.identity();
  const local = new IdentityFile({ location, clock, random });
  return { local, tokens: new TokenVerifier(new TrustedIssuers({ identity, local, clock, log })) };
}
