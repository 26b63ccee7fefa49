/** The address of a database, which may name several servers: a primary and its standbys.
 *  `connections.ts` connects to one of them; the options of a server and its log use the texts. */

/** Limit of the servers in an address, against mistyped ones: more than any setup for high
 *  availability has. */
const hostsMax = 8;
const shape = /^(postgres(?:ql)?:\/\/)([^@/?]*@)?([^/?]*)(.*)$/;

/** Splits `postgres://user:password@one:5432,two:5432/name?…` into one address per server: a
 *  primary and its standbys. */
export function addressesOf(location: string): readonly string[] {
  const [, scheme = "", credentials = "", hosts = "", rest = ""] = shape.exec(location) ?? [];
  const named = hosts.split(",");
  if (scheme === "" || named.length > hostsMax) {
    throw new Error(
      "the database address must have the form postgres://user:password@host:port/name",
    );
  }
  return named.map((host) => new URL(`${scheme}${credentials}${host}${rest}`).href);
}

/** Whether the location of a store is a database; otherwise it is a folder. */
export function isDatabaseAddress(location: string): boolean {
  try {
    return addressesOf(location).length > 0;
  } catch {
    return false;
  }
}

/** The address without its password, for logs and messages. */
export function withoutPassword(location: string): string {
  return location.replace(/^(\w+:\/\/[^@/?:]*):[^@/?]*@/, "$1:***@");
}

/** The database server that all connections of this node use, one of those in the address. A
 *  failure makes the next one the current one. */
export class Addresses {
  readonly #all: readonly string[];
  #at = 0;

  constructor(all: readonly string[]) {
    this.#all = all;
  }

  get hasSeveral(): boolean {
    return this.#all.length > 1;
  }

  get current(): string {
    return this.#all[this.#at] ?? "";
  }

  /** Moves to the next server if `address` is still the current one: several connections may report
   *  the same failure. */
  failed(address: string): void {
    if (address === this.current) this.#at = (this.#at + 1) % this.#all.length;
  }
}
