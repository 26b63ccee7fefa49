/** More than any set-up for high availability has. */
const hostsMax = 8;
const shape = /^(postgres(?:ql)?:\/\/)([^@/?]*@)?([^/?]*)(.*)$/;

/**
 * One address for each server that `postgres://user:password@one:5432,two:5432/name?…` names: a
 * primary and those that may take its place.
 */
export function addressesOf(location: string): readonly string[] {
  const [, scheme = "", credentials = "", hosts = "", rest = ""] = shape.exec(location) ?? [];
  const named = hosts.split(",");
  if (scheme === "" || named.length > hostsMax) {
    throw new Error("the address of a database must read postgres://user:password@host:port/name");
  }
  return named.map((host) => new URL(`${scheme}${credentials}${host}${rest}`).href);
}

export function isDatabaseAddress(location: string): boolean {
  try {
    return addressesOf(location).length > 0;
  } catch {
    return false;
  }
}

/** As it may be shown. */
export function withoutPassword(location: string): string {
  return location.replace(/^(\w+:\/\/[^@/?:]*):[^@/?]*@/, "$1:***@");
}

/** Goes from one server to the next when one does not serve, for all connections of a node. */
export class Addresses {
  readonly #all: readonly string[];
  #at = 0;

  constructor(all: readonly string[]) {
    this.#all = all;
  }

  get areSeveral(): boolean {
    return this.#all.length > 1;
  }

  get current(): string {
    return this.#all[this.#at] ?? "";
  }

  /** Only whoever tried the present one moves on: others may have moved on meanwhile. */
  failed(address: string): void {
    if (address === this.current) this.#at = (this.#at + 1) % this.#all.length;
  }
}
