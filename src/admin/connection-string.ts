import type { AccountSettings } from "../account/settings.ts";
import type { ServiceName } from "../protocol/service-name.ts";

const endpointNames: Readonly<Record<ServiceName, string>> = {
  blob: "BlobEndpoint",
  queue: "QueueEndpoint",
  table: "TableEndpoint",
  file: "FileEndpoint",
};

/** In the form all Azure client libraries read, path-style. */
export function connectionStringOf(
  account: AccountSettings,
  urls: Readonly<Partial<Record<ServiceName, string>>>,
): string {
  const endpoints = (["blob", "queue", "table", "file"] as const).flatMap((service) => {
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

/** "Any address" is where a server listens, not where a client can go. */
export function reachable(url: string): string {
  return url.replace("://0.0.0.0:", "://127.0.0.1:").replace("://[::]:", "://[::1]:");
}
