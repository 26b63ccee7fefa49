import { encodeKey, prefixBounds } from "../../../src/encoding/keys.ts";
import type { KeyPart } from "../../../src/encoding/keys.ts";
import type { Bounds, Key, Store, Transaction, Value, View } from "../../../src/store/store.ts";

export const k = (...parts: readonly KeyPart[]): Key => encodeKey(parts);
export const below = (...parts: readonly KeyPart[]): Bounds => prefixBounds(encodeKey(parts));

export function bytes(content: string): Value {
  return new TextEncoder().encode(content);
}

export function text(value: Value | undefined): string | undefined {
  return value === undefined ? undefined : new TextDecoder().decode(value);
}

export const put = (store: Store, key: Key, value: string): Promise<void> =>
  store.transact(async (tx) => tx.put(key, bytes(value)));

export const read = (store: Store, key: Key): Promise<string | undefined> =>
  store.snapshot(async (view) => text(await view.get(key)));

/** The values of a range, in order. */
export async function values(view: View, bounds: Bounds): Promise<string[]> {
  const found: string[] = [];
  for await (const entries of view.range(bounds)) {
    for (const { value } of entries) found.push(text(value) ?? "");
  }
  return found;
}

export async function increment(tx: Transaction, key: Key): Promise<number> {
  const next = Number(text(await tx.get(key)) ?? "0") + 1;
  tx.put(key, bytes(String(next)));
  return next;
}
