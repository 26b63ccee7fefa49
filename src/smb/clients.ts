import type { Connection } from "./connection.ts";

/** The connections of each client, by ClientGuid, oldest first. */
export class Clients {
  readonly #connections = new Map<string, Set<Connection>>();

  add(connection: Connection): void {
    const guid = guidOf(connection);
    const all = this.#connections.get(guid) ?? new Set();
    this.#connections.set(guid, all.add(connection));
  }

  remove(connection: Connection): void {
    const guid = guidOf(connection);
    const all = this.#connections.get(guid);
    all?.delete(connection);
    if (all?.size === 0) this.#connections.delete(guid);
  }

  /** The oldest connection of the same client that has an authenticated channel. */
  oldestOf(sibling: Connection): Connection | undefined {
    for (const connection of this.#connections.get(guidOf(sibling)) ?? []) {
      if ([...connection.channels.values()].some(({ isValid }) => isValid)) return connection;
    }
    return undefined;
  }
}

function guidOf({ negotiated }: Connection): string {
  return negotiated?.clientGuid.toString("hex") ?? "";
}
