import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/**
 * Whether a page of another site may be behind a request. Browsers tell where a request comes from;
 * programs that are no browsers send neither header, and have nobody's cookies.
 */
export function isCrossSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  const { origin, host } = headers;
  return origin !== undefined && hostOfOrigin(origin) !== host?.toLowerCase();
}

/** Whether a browser vouches that our own page, or its user, is behind a request. No script can set
 *  this header. Browsers send it to HTTPS and loopback addresses only. */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site === "same-origin" || site === "none";
}

function hostOfOrigin(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

/**
 * An address, or a name that no foreign DNS server answers for. A page whose own name was made to
 * point here is of the same origin as we are, and can be told only by that name.
 */
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
