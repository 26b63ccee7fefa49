import type { Plan, SiteName } from "./plan.ts";

/** A bug that is put into the server while a simulation runs. */
export interface PlantedBug {
  readonly bug: string;
  /** Where it can show; undefined: anywhere. */
  readonly site?: SiteName;
  /** What a seed has to be like to show it; undefined: as it is. */
  readonly plan?: Partial<Plan>;
  /** Plants it; the returned function removes it. */
  readonly plant: () => () => void;
}

/** Replaces properties of an object of the server, until the returned function is called. */
export function replace(object: object, properties: object): () => void {
  const before = Object.getOwnPropertyDescriptors(object) as Record<string, PropertyDescriptor>;
  Object.assign(object, properties);
  return () => {
    for (const name of Object.keys(properties)) Object.defineProperty(object, name, before[name]!);
  };
}

/** Returns true every `rate`-th time. */
export function sometimes(rate: number): () => boolean {
  let calls = 0;
  return () => {
    calls += 1;
    return calls % rate === 0;
  };
}

export type Method = (this: unknown, ...given: never[]) => unknown;

/** Replaces a method; `wrap` gets the original one. */
export function wrapMethod(
  prototype: object,
  name: string,
  wrap: (original: Method) => Method,
): () => void {
  const original = (prototype as Record<string, Method>)[name]!;
  return replace(prototype, { [name]: wrap(original) });
}
