import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Log, Random } from "../../base/world.ts";
import type { Store, Transaction, View } from "../store.ts";
import { Cipher, dataKeyIdMax } from "./cipher.ts";
import { keyringKey } from "./record-cipher.ts";
import { recordCodec } from "../../encoding/table.ts";

/** The data keys of an encrypted store, which are stored encrypted with the operator's master key:
 *  opening them, adding one, changing the master key (`etagere encryption`), and following changes
 *  by other processes. So a change of the master key encrypts a few keys again, not all data. */

const keyBytes = 32;
/** Limit of the data keys of a store, which are all in one record; each rotation adds one. */
const dataKeysMax = 1000;
/** A new data key encrypts only after this time, in which all processes learn it: one that lacks it
 *  could not read what others write. */
const activationTicks = 10n * ticksPerSecond;
const millisecondsPerTick = 10_000n;

/** A data key as it is stored: encrypted with the master key. */
interface WrappedKey {
  readonly id: number;
  readonly createdAt: Ticks;
  readonly nonce: Uint8Array;
  /** The authentication tag and the encrypted key. */
  readonly wrapped: Uint8Array;
}

interface KeyringRecord {
  readonly keys: readonly WrappedKey[];
}

const codec = recordCodec<KeyringRecord>({ version: 1 });

/** A data key of the store, decrypted. The newest one encrypts; all remain, to decrypt what they
 *  have encrypted. */
export interface DataKey {
  readonly id: number;
  readonly createdAt: Ticks;
  readonly key: Uint8Array;
}

/** Thrown if a store cannot be opened with this master key, or without one. */
export class EncryptionRefused extends Error {
  override readonly name = "EncryptionRefused";
}

const missingKey =
  "the data is encrypted: give the master key with --encryption file:…, env:… or command:…";
const wrongKey =
  "--encryption: this is not the master key of the data (docs/guides/encryption.md#a-lost-key)";
const notEncrypted =
  "--encryption: the data was stored without encryption; export it and load the archive into a " +
  "new, encrypted location (etagere export, etagere load)";

/** Decrypts the stored data keys with the master key; throws `EncryptionRefused` if it is wrong. */
export function unwrapKeys(stored: Uint8Array, master: Uint8Array | undefined): readonly DataKey[] {
  if (master === undefined) throw new EncryptionRefused(missingKey);
  return codec.decode(stored).keys.map((each) => unwrap(each, master));
}

/** A cipher that only decrypts, for `etagere check` and other commands that read a folder. */
export function readingCipher(keys: readonly DataKey[]): Cipher {
  const noRandom = (): never => {
    throw new Error("this cipher only opens");
  };
  const cipher = new Cipher({ random: { bytes: noRandom } });
  const [first] = keys;
  if (first !== undefined) cipher.setKeys(keyMap(keys), first.id);
  return cipher;
}

function keyMap(keys: readonly DataKey[]): ReadonlyMap<number, Uint8Array> {
  return new Map(keys.map(({ id, key }) => [id, key]));
}

/** Called without a master key: throws `EncryptionRefused` if the store is encrypted. */
export async function refuseEncrypted(store: Store): Promise<void> {
  const stored = await store.snapshot((view) => view.get(keyringKey));
  if (stored !== undefined) throw new EncryptionRefused(missingKey);
}

interface OpenOptions {
  readonly store: Store;
  readonly master: Uint8Array;
  readonly random: Random;
  /** The data keys of a new store, for a copy; undefined: a new one is drawn. */
  readonly keys?: readonly DataKey[] | undefined;
}

/** Returns the data keys of a store. An empty store gets its first one, in the transaction that
 *  finds it empty, so that no record is ever written before. */
export async function openKeyring(options: OpenOptions): Promise<readonly DataKey[]> {
  const { store, master, random } = options;
  return store.transact(async (tx) => {
    const stored = await tx.get(keyringKey);
    if (stored !== undefined) return unwrapKeys(stored, master);
    if (!(await isEmpty(tx))) throw new EncryptionRefused(notEncrypted);
    const keys = options.keys ?? [newKey([], tx.now, random)];
    putKeys(tx, keys, { master, random });
    return keys;
  });
}

interface RotateOptions {
  readonly store: Store;
  readonly master: Uint8Array;
  readonly random: Random;
}

/** `etagere encryption`: encrypts the data keys, not the data, with another master key. */
export async function changeMasterKey(
  { store, master, random }: RotateOptions,
  next: Uint8Array,
): Promise<readonly DataKey[]> {
  return changeKeys(store, master, (keys) => keys, { master: next, random });
}

/** `etagere encryption`: adds a data key, which all processes use for what they write later. */
export async function addDataKey(options: RotateOptions): Promise<readonly DataKey[]> {
  const { store, master, random } = options;
  return changeKeys(store, master, (keys, now) => [...keys, newKey(keys, now, random)], options);
}

async function changeKeys(
  store: Store,
  master: Uint8Array,
  change: (keys: readonly DataKey[], now: Ticks) => readonly DataKey[],
  wrapping: Wrapping,
): Promise<readonly DataKey[]> {
  return store.transact(async (tx) => {
    const stored = await tx.get(keyringKey);
    if (stored === undefined) throw new EncryptionRefused("the data is not encrypted");
    const keys = change(unwrapKeys(stored, master), tx.now);
    putKeys(tx, keys, wrapping);
    return keys;
  });
}

interface Wrapping {
  readonly master: Uint8Array;
  readonly random: Random;
}

function putKeys(tx: Transaction, keys: readonly DataKey[], wrapping: Wrapping): void {
  if (keys.length > dataKeysMax) {
    throw new EncryptionRefused(`a store can have ${dataKeysMax} data keys`);
  }
  tx.put(keyringKey, codec.encode({ keys: keys.map((each) => wrap(each, wrapping)) }));
}

async function isEmpty(tx: View): Promise<boolean> {
  const all = { start: Uint8Array.of(1), end: Uint8Array.of(0xfc), limit: 1 };
  for await (const entries of tx.range(all)) if (entries.length > 0) return false;
  return true;
}

function newKey(keys: readonly DataKey[], now: Ticks, random: Random): DataKey {
  const id = (keys.at(-1)?.id ?? 0) + 1;
  if (id > dataKeyIdMax) throw new EncryptionRefused("there are no more ids of data keys");
  return { id, createdAt: now, key: random.bytes(keyBytes) };
}

const nonceBytes = 12;
const tagBytes = 16;
const algorithm = "aes-256-gcm";

/** Encrypts a data key. Random nonces suffice, because few keys are wrapped with one master key. */
function wrap({ id, createdAt, key }: DataKey, { master, random }: Wrapping): WrappedKey {
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv(algorithm, wrappingKey(master), nonce);
  cipher.setAAD(nameOf(id));
  const encrypted = Buffer.concat([cipher.update(key), cipher.final()]);
  const wrapped = new Uint8Array(Buffer.concat([cipher.getAuthTag(), encrypted]));
  return { id, createdAt, nonce, wrapped };
}

function unwrap({ id, createdAt, nonce, wrapped }: WrappedKey, master: Uint8Array): DataKey {
  const decipher = createDecipheriv(algorithm, wrappingKey(master), nonce);
  decipher.setAAD(nameOf(id));
  decipher.setAuthTag(wrapped.subarray(0, tagBytes));
  try {
    const opened = [decipher.update(wrapped.subarray(tagBytes)), decipher.final()];
    return { id, createdAt, key: new Uint8Array(Buffer.concat(opened)) };
  } catch (error) {
    throw new EncryptionRefused(wrongKey, { cause: error });
  }
}

function wrappingKey(master: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", master, new Uint8Array(0), "etagere data keys", 32));
}

function nameOf(id: number): Uint8Array {
  return Buffer.from(`data key ${id}`);
}

interface FollowOptions {
  readonly store: Store;
  readonly master: Uint8Array;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly log: Log;
}

/** Gives the cipher of a running server the data keys, and those that are added later. Returns a
 *  function that ends this. */
export async function followKeyring(
  options: FollowOptions,
  first: readonly DataKey[],
): Promise<() => void> {
  const { store, cipher, clock, log } = options;
  let keys = first;
  let cancel = (): void => undefined;
  const apply = (now: Ticks): void => {
    const usable = keys.filter(({ createdAt }) => createdAt + activationTicks <= now);
    const active = usable.at(-1) ?? keys[0];
    if (active === undefined) throw new Error("a keyring has no keys");
    cipher.setKeys(keyMap(keys), active.id);
    const newest = keys.at(-1);
    cancel();
    if (newest === undefined || newest === active) return;
    const waitTicks = newest.createdAt + activationTicks - now;
    cancel = clock.after(Number(waitTicks / millisecondsPerTick) + 1, () =>
      apply(newest.createdAt + activationTicks),
    );
  };
  const reload = async (): Promise<void> => {
    try {
      const [stored, now] = await store.snapshot(
        async (view) => [await view.get(keyringKey), view.now] as const,
      );
      const found = stored === undefined ? [] : unwrapKeys(stored, options.master);
      if (found.length > 0) keys = found;
      apply(now);
    } catch (error) {
      // After a change of the master key this process continues with the keys that it has.
      const isMaster = error instanceof EncryptionRefused;
      if (isMaster) log.warn({}, "the master key was changed: restart this process with it");
      else log.warn({ err: error }, "reading the data keys failed");
    }
  };
  apply(await store.snapshot((view) => view.now));
  cipher.onUnknownKey = () => void reload();
  const unwatch = store.watch(keyringKey, () => void reload(), { isBackground: true });
  return () => {
    unwatch();
    cancel();
  };
}
