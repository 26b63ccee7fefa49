import type { ServiceName } from "../protocol/names.ts";
import type { ListenerOptions } from "./listener.ts";
import type { Options } from "./options.ts";

/** The name, address and idle time of a service's listener: `name` is that of the listener, which
 *  is `dfs` for the second listener of the blob service. */
export function serviceListener(
  options: Options,
  service: ServiceName,
  name: EndpointName,
): Pick<ListenerOptions, "title" | "host" | "port" | "keepAliveSeconds"> {
  return {
    title: `${titleOf(name)} service`,
    host: options[`${name}Host`],
    port: options[`${name}Port`],
    keepAliveSeconds: options[`${service}KeepAliveTimeout`],
  };
}

/** A start-up line in the form of Azurite: test scripts wait for it on standard output. */
export function serviceLine(name: EndpointName, what: string): string {
  return `Azurite ${titleOf(name)} service ${what}`;
}

/** Returns the callback that prints that a listener took a free port because its own was in use.
 *  Undefined if the user has chosen the port: then it is not replaced. */
export function onPortReplaced(
  { options, announce }: { readonly options: Options; readonly announce: (line: string) => void },
  name: string,
): ((notice: string) => void) | undefined {
  const replaceable: ReadonlySet<string> = options.replaceablePorts;
  return replaceable.has(name) ? (notice) => announce(`Etagere ${notice}`) : undefined;
}

/** Prints a line for every service that was announced as listening. */
export function announceServices(
  urls: Readonly<Partial<Record<EndpointName, string>>>,
  what: string,
  announce: (line: string) => void,
): void {
  for (const name of endpointNames) {
    if (urls[name] !== undefined) announce(serviceLine(name, what));
  }
}

/** The name of a service in messages: "Blob". */
function titleOf(name: EndpointName): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** The listeners of services; Data Lake is a second one of the blob service. */
export const endpointNames = ["blob", "queue", "table", "file", "dfs"] as const;

export type EndpointName = (typeof endpointNames)[number];

/** Names the SMB listener in start-up lines and errors. */
export const smbTitle = "SMB endpoint";

/** Names the admin listener in start-up lines and errors. */
export const adminTitle = "Admin listener";
