import type { Connection } from "./connection.ts";

/** The connections of each client, by ClientGuid, oldest first: the notification of an SMB lease
 *  break may be sent on any of them. */
export class ClientConnections {
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

  /** The oldest connection of the client of `connection` that has an authenticated channel. */
  oldestAuthenticated(connection: Connection): Connection | undefined {
    for (const each of this.#connections.get(guidOf(connection)) ?? []) {
      if ([...each.channels.values()].some(({ isValid }) => isValid)) return each;
    }
    return undefined;
  }
}

/** Empty before NEGOTIATE: such a connection was never added. */
function guidOf({ negotiated }: Connection): string {
  return negotiated?.clientGuid.toString("hex") ?? "";
}
