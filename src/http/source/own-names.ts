import type { ServiceName } from "../../protocol/names.ts";
import type { CopyRequester } from "./own-endpoints.ts";

/** The cloud URL of the development account. Azure CLI derives the URL of a source from the account
 *  name, as if the account were in the cloud, where the development account never is. */
const cloudAddress = /^devstoreaccount1\.(\w+)\.core\.windows\.net$/i;
const hostStyle = /^[^.]+\.(blob|dfs|queue|table|file)\.(.+)$/;
const portsByScheme: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** The service of this server that a URL names, derived from the host of the copy request: the same
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

/** The service of a label in a host name. The dfs endpoint is a second API to blobs. */
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
