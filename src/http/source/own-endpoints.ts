import { networkInterfaces } from "node:os";
import type { ServiceName } from "../../protocol/names.ts";
import type { WireResponse, WireRequest } from "../wire.ts";
import { directFormOf } from "./source-policy.ts";

/** Recognises URLs of copy sources that address this server, by its listeners and by the host that
 *  the client used. `open-sources.ts` then reads them without a connection. */

interface Endpoint {
  /** The configured host: a name or an address. */
  readonly host: string;
  /** The IP address that the listener is bound to. */
  readonly address: string;
  readonly port: number;
}

/** Serves a request without a connection, as if a listener had received it. */
export type Serve = (request: WireRequest) => Promise<WireResponse>;

/** The service that runs a copy, and the host by which its client addressed this server. A source
 *  with the same host is in this server. */
interface CopyRequester {
  readonly service: ServiceName;
  readonly host: string;
}

/** The listeners of this server, and functions that serve requests to them without a connection.
 *  The server registers both when it starts. */
export class OwnEndpoints {
  readonly #serve = new Map<ServiceName, Serve>();
  readonly #storage: (readonly [ServiceName, Endpoint])[] = [];
  readonly #admin: Endpoint[] = [];

  /** Registers the function that serves requests to a service without a connection. */
  serves(service: ServiceName, serve: Serve): void {
    this.#serve.set(service, serve);
  }

  /** Registers a listener of a service, which may have several. */
  listens(service: ServiceName, endpoint: Endpoint): void {
    this.#storage.push([service, endpoint]);
  }

  listensForAdmin(endpoint: Endpoint): void {
    this.#admin.push(endpoint);
  }

  serverOf(service: ServiceName): Serve | undefined {
    return this.#serve.get(service);
  }

  /** The service of this server that a URL addresses; undefined for other servers. */
  serviceOf(url: URL, requester: CopyRequester): ServiceName | undefined {
    const named = serviceOfName(url, requester) ?? this.#serviceAt(url, requester.host);
    return named !== undefined && this.#serve.has(named) ? named : undefined;
  }

  /** Whether a connection to the address and port may reach the admin listener, which copies must
   *  not. Counts every address of this machine. */
  isAdmin(address: string, port: number): boolean {
    return this.#admin.some((admin) => admin.port === port && isOfMachine(address, admin));
  }

  isStorage(address: string, port: number): boolean {
    const direct = directFormOf(address);
    if (direct === undefined) return false;
    return this.#storage.some(
      ([, endpoint]) => endpoint.port === port && reaches(endpoint, direct),
    );
  }

  #serviceAt(url: URL, host: string): ServiceName | undefined {
    const name = hostNameOf(url.host);
    for (const [service, endpoint] of this.#storage) {
      if (endpoint.port !== portOf(url)) continue;
      const isCalledSo = name === hostNameOf(host) || name === endpoint.host.toLowerCase();
      if (isCalledSo || pointsTo(name, endpoint)) return service;
    }
    return undefined;
  }
}

const loopbackAddresses = ["127.0.0.1", "::1"];
const unspecified: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function pointsTo(name: string, endpoint: Endpoint): boolean {
  const isLocalName = name === "localhost" || name.endsWith(".localhost");
  if (isLocalName) return loopbackAddresses.some((address) => reaches(endpoint, address));
  const address = directFormOf(name);
  return address !== undefined && reaches(endpoint, address);
}

/** Whether a connection to this address of the machine reaches the listener. A listener on 0.0.0.0
 *  or :: is reached through every address. */
function reaches(endpoint: Endpoint, address: string): boolean {
  const bound = directFormOf(endpoint.address) ?? "";
  if (bound === address) return true;
  const isForAll = unspecified.has(bound);
  // A connection to the unspecified address reaches the loopback address.
  if (unspecified.has(address)) return isForAll || isLoopbackAddress(bound);
  return isForAll && (isLoopbackAddress(address) || interfaceAddresses().has(address));
}

function isOfMachine(address: string, admin: Endpoint): boolean {
  if (unspecified.has(address) || isLoopbackAddress(address)) return true;
  return directFormOf(admin.address) === address || interfaceAddresses().has(address);
}

function isLoopbackAddress(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

/** The addresses of this machine. Read each time, because they may change; the cost does not
 *  matter, because only copy sources and webhooks are checked. */
function interfaceAddresses(): ReadonlySet<string> {
  const found = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return new Set(found.map(({ address }) => address.replace(/%.*$/, "")));
}

/** The cloud URL of the development account. Azure CLI derives the URL of a source from the account
 *  name, as if the account were in the cloud, where the development account never is. */
const cloudAddress = /^devstoreaccount1\.(\w+)\.core\.windows\.net$/i;
const hostStyle = /^[^.]+\.(blob|dfs|queue|table|file)\.(.+)$/;
const portsByScheme: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** The service of this server that a URL names, derived from the host of the copy request: the same
 *  host, or another account or service of it, as in `one.blob.localhost:10000` and
 *  `two.blob.localhost:10000`. */
function serviceOfName(url: URL, { service, host }: CopyRequester): ServiceName | undefined {
  const name = url.host.toLowerCase();
  const ownHost = host.toLowerCase();
  if (name === ownHost) return service;
  const inCloud = cloudAddress.exec(name)?.[1];
  if (inCloud !== undefined) return serviceNamed(inCloud);
  const [, named, rest] = hostStyle.exec(name) ?? [];
  const [, , ownRest] = hostStyle.exec(ownHost) ?? [];
  return rest !== undefined && rest === ownRest ? serviceNamed(named ?? "") : undefined;
}

/** The service of a label in a host name. The dfs endpoint is a second API to blobs. */
function serviceNamed(label: string): ServiceName {
  return label === "dfs" ? "blob" : (label as ServiceName);
}

function hostNameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/^\[|\]$/g, "");
}

export function portOf({ port, protocol }: URL): number {
  return port === "" ? (portsByScheme[protocol] ?? 0) : Number(port);
}
