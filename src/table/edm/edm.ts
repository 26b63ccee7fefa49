import type { Ticks } from "../../base/ticks.ts";

/** The types of properties. The numbers are stored: never change one. */
export const edm = {
  string: 0,
  boolean: 1,
  int32: 2,
  int64: 3,
  double: 4,
  dateTime: 5,
  guid: 6,
  binary: 7,
} as const;

export type EdmType = (typeof edm)[keyof typeof edm];

export const edmNames = [
  "Edm.String",
  "Edm.Boolean",
  "Edm.Int32",
  "Edm.Int64",
  "Edm.Double",
  "Edm.DateTime",
  "Edm.Guid",
  "Edm.Binary",
] as const;

/** Int64 is a bigint, DateTime the bigint of its ticks, Guid its lower-case dashed text. */
export type EdmValue = string | boolean | number | bigint | Uint8Array;

export type TypedValue =
  | { readonly type: typeof edm.string | typeof edm.guid; readonly value: string }
  | { readonly type: typeof edm.boolean; readonly value: boolean }
  | { readonly type: typeof edm.int32 | typeof edm.double; readonly value: number }
  | { readonly type: typeof edm.int64 | typeof edm.dateTime; readonly value: bigint }
  | { readonly type: typeof edm.binary; readonly value: Uint8Array };

/** An array instead of an object, because clients choose the names (`__proto__`). */
export type Property = readonly [name: string, type: EdmType, value: EdmValue];

export function edmTypeOf(name: string): EdmType | undefined {
  const index = (edmNames as readonly string[]).indexOf(name);
  return index < 0 ? undefined : (index as EdmType);
}

/** 1601-01-01, the earliest DateTime of the service. */
export const earliestTicks: Ticks = 504_911_232_000_000_000n;
export const int32Min = -2_147_483_648;
export const int32Max = 2_147_483_647;
export const int64Min = -(2n ** 63n);
export const int64Max = 2n ** 63n - 1n;
