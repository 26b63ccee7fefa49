import { lookup } from "node:dns/promises";
import * as net from "node:net";
import { getSystemErrorName } from "node:util";
import type { ServiceName } from "../protocol/names.ts";
import { bindOrReplace, type BindOptions, type BoundSocket } from "../server/listener.ts";
import type { Options, OwnPort } from "../server/options.ts";
import {
  adminTitle,
  endpointNames,
  serviceListener,
  smbTitle,
} from "../server/service-listener.ts";

type PortName = OwnPort | "blobPort" | "queuePort" | "tablePort";

/** Binds the ports of a server with several worker processes, which share the sockets.
 *  `supervisor.ts` binds them and passes them on. */

/** The internal function with which Node's `cluster` binds a socket without listening, because no
 *  documented function does so. It returns a negative number if the system reports an error. */
interface NetInternals {
  readonly _createServerHandle: (
    address: string,
    port: number,
    family: number,
  ) => SocketHandle | number;
}

/** A bound socket on which nothing listens yet, as `_createServerHandle` returns it. */
interface SocketHandle extends BoundSocket {
  readonly getsockname: (address: { port?: number }) => number;
  readonly close: () => void;
}

/** The sockets of a server with workers. They are bound here before the first worker starts, so
 *  that all workers serve the same ports, also if a free port was chosen. This process neither
 *  listens on them nor accepts: a port is closed until the first worker listens on the socket. From
 *  then on the kernel keeps connections while no worker runs, and the next worker accepts them. */
export class SharedSockets {
  /** The bound port numbers, by the name of the option. */
  readonly ports: Partial<Record<PortName, number>> = {};
  readonly #handles = new Map<string, SocketHandle>();

  /** Binds the ports of all listeners. Rejects with `StartRefused` if one cannot be bound. */
  static async bind(
    options: Options,
    onPortReplaced: (notice: string) => void,
  ): Promise<SharedSockets> {
    const sockets = new SharedSockets();
    const replaceable: ReadonlySet<string> = options.replaceablePorts;
    try {
      for (const [name, listening] of listenersOf(options)) {
        const notice = replaceable.has(name) ? onPortReplaced : undefined;
        await sockets.#bind(name, { ...listening, onPortReplaced: notice });
      }
    } catch (error) {
      sockets.close();
      throw error;
    }
    return sockets;
  }

  /** All sockets, by the title of their listener. Every worker gets those of the main worker, too,
   *  so that it can take them over at once: sending a socket takes an answer of the receiver. */
  entries(): Iterable<readonly [string, BoundSocket]> {
    return this.#handles;
  }

  /** Closes the sockets of this process. A port is then open as long as a worker listens on it. */
  close(): void {
    for (const handle of this.#handles.values()) handle.close();
    this.#handles.clear();
  }

  async #bind(name: PortName, options: BindOptions): Promise<void> {
    await bindOrReplace(options, async (host, port) => {
      const { address, family } = await lookup(host);
      const { _createServerHandle: create } = net as unknown as NetInternals;
      const handle = create(address, port, family);
      if (typeof handle === "number") throw systemError(handle);
      const bound: { port?: number } = {};
      // A port in use is reported here, not by the bind.
      const error = handle.getsockname(bound);
      if (error !== 0) {
        handle.close();
        throw systemError(error);
      }
      this.#handles.set(options.title, handle);
      this.ports[name] = bound.port ?? port;
    });
  }
}

/** Titles of the listeners that only the main worker serves. */
export const mainTitles: ReadonlySet<string> = new Set([smbTitle, adminTitle]);

function systemError(code: number): Error {
  const name = getSystemErrorName(code);
  return Object.assign(new Error(name), { code: name });
}

/** The listeners that a server with these options has, each with the option of its port. */
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
  yield ["adminPort", { title: adminTitle, host, port }];
}
