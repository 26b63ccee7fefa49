import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** Whether a page of another site possibly sent a request, according to `Sec-Fetch-Site` and
 *  `Origin`. Requests with neither header are accepted: they come from programs other than
 *  browsers, which do not send a user's cookies unasked. */
export function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  const { origin, host } = headers;
  return origin !== undefined && hostOfOrigin(origin) !== host?.toLowerCase();
}

/** Whether the browser states that the explorer or its user sent the request. Scripts cannot set
 *  this header. Browsers send it to HTTPS and loopback addresses only. */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site === "same-origin" || site === "none";
}

function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

/** Whether the host is an IP address or a name that cannot be registered in public DNS. Guards
 *  against DNS rebinding: a page whose own name resolves to this server has the same origin as the
 *  explorer, and only its host name differs. */
export function isOwnHost(host: string | undefined): boolean {
  const name = hostName(host ?? "");
  return isIP(name) !== 0 || name === "localhost" || name.endsWith(".localhost");
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}

function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host);
  return (bracketed?.[1] ?? host.replace(/:\d+$/, "")).toLowerCase();
}
