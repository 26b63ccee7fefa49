import type { ServiceName } from "../../protocol/service-name.ts";
import type { CopyRequester } from "./own-endpoints.ts";

/** Azure CLI derives the URL of a source from the account name, as if it were in the cloud. The
 *  development account never is. */
const cloudAddress = /^devstoreaccount1\.(\w+)\.core\.windows\.net$/i;
const hostStyle = /^[^.]+\.(blob|dfs|queue|table|file)\.(.+)$/;
const portsByScheme: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** The service of this server that a URL names, judged by the host of the copy request: the same
 *  host, or another account or service of it, as in `one.blob.localhost:10000` and
 *  `two.blob.localhost:10000`. */
export function serviceOfName(url: URL, { service, host }: CopyRequester): ServiceName | undefined {
  const name = url.host.toLowerCase();
  const asked = host.toLowerCase();
  if (name === asked) return service;
  const inCloud = cloudAddress.exec(name)?.[1];
  if (inCloud !== undefined) return serviceNamed(inCloud);
  const [, named, rest] = hostStyle.exec(name) ?? [];
  const [, , askedRest] = hostStyle.exec(asked) ?? [];
  return rest !== undefined && rest === askedRest ? serviceNamed(named ?? "") : undefined;
}

/** The dfs endpoint is another way to blobs. */
function serviceNamed(label: string): ServiceName {
  return label === "dfs" ? "blob" : (label as ServiceName);
}

export function hostNameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/^\[|\]$/g, "");
}

export function portOf({ port, protocol }: URL): number {
  return port === "" ? (portsByScheme[protocol] ?? 0) : Number(port);
}
