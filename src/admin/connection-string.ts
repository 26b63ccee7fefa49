import type { AccountSettings } from "../account/settings.ts";
import { serviceNames, type ServiceName } from "../protocol/names.ts";

const endpointNames: Readonly<Record<ServiceName, string>> = {
  blob: "BlobEndpoint",
  queue: "QueueEndpoint",
  table: "TableEndpoint",
  file: "FileEndpoint",
};

/** A connection string for the client libraries of Azure, as the explorer, `start()` and `etagere
 *  account create` give it to users, with the account in the path of the URLs. */
export function connectionStringOf(
  account: AccountSettings,
  urls: Readonly<Partial<Record<ServiceName, string>>>,
): string {
  const endpoints = serviceNames.flatMap((service) => {
    const url = urls[service];
    return url === undefined ? [] : [`${endpointNames[service]}=${reachable(url)}/${account.name}`];
  });
  const secure = Object.values(urls).some((url) => url.startsWith("https:"));
  return [
    `DefaultEndpointsProtocol=${secure ? "https" : "http"}`,
    `AccountName=${account.name}`,
    `AccountKey=${account.keys[0]}`,
    ...endpoints,
    "",
  ].join(";");
}

/** Replaces the wildcard address that a server listens on by the loopback address, which clients
 *  can connect to. */
export function reachable(url: string): string {
  return url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:");
}
