import { createServer, type Server } from "node:net";
import { bind, type BindOptions } from "../listener.ts";
import type { Options, OwnPort } from "../options.ts";
import { endpointNames, smbTitle } from "../endpoint-names.ts";
import { serviceListener } from "../service-listener.ts";
import type { ServiceName } from "../../protocol/service-name.ts";

type PortName = OwnPort | "blobPort" | "queuePort" | "tablePort";

/** Keeps the ports of a starting server until its first worker binds them. All workers then get the
 *  same port numbers, also if a free port was chosen, and a replacement gets them again. */
export class PortReservations {
  /** The bound port numbers, by the name of the option. */
  readonly ports: Partial<Record<PortName, number>> = {};
  readonly #servers = new Map<string, Server>();

  /** Rejects with `StartRefused` if a port cannot be bound. */
  static async open(
    options: Options,
    onPortReplaced: (notice: string) => void,
  ): Promise<PortReservations> {
    const reservations = new PortReservations();
    const replaceable: ReadonlySet<string> = options.replaceablePorts;
    try {
      for (const [name, listening] of listenersOf(options)) {
        const notice = replaceable.has(name) ? onPortReplaced : undefined;
        await reservations.#reserve(name, { ...listening, onPortReplaced: notice });
      }
    } catch (error) {
      reservations.releaseAll();
      throw error;
    }
    return reservations;
  }

  /** Frees the port of the listener with this title before it returns. */
  release(title: string): void {
    this.#servers.get(title)?.close();
    this.#servers.delete(title);
  }

  releaseAll(): void {
    for (const title of this.#servers.keys()) this.release(title);
  }

  async #reserve(name: PortName, options: BindOptions): Promise<void> {
    const server = createServer((socket) => socket.destroy());
    await bind(server, options);
    this.#servers.set(options.title, server);
    const address = server.address();
    if (typeof address === "object" && address !== null) this.ports[name] = address.port;
  }
}

/** The listeners that a server with these options has. */
function* listenersOf(options: Options): Generator<readonly [PortName, BindOptions]> {
  for (const name of endpointNames) {
    const service: ServiceName = name === "dfs" ? "blob" : name;
    if (!options.services.includes(service)) continue;
    yield [`${name}Port`, serviceListener(options, service, name)];
  }
  if (options.services.includes("file") && !options.noSmb) {
    yield ["smbPort", { title: smbTitle, host: options.smbHost, port: options.smbPort }];
  }
  const { adminHost: host, adminPort: port } = options;
  yield ["adminPort", { title: "Admin listener", host, port }];
}
