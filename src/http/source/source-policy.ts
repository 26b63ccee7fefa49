import { reachableAddresses } from "./address-forms.ts";
import { blockListOf, isListed } from "./address-ranges.ts";
import type { OwnEndpoints } from "./own-endpoints.ts";

/** Address ranges (CIDR) of the configuration. */
export interface SourceRanges {
  /** Address ranges from which copies may read although they are blocked by default. */
  readonly allowed: readonly string[];
  /** Address ranges from which copies must not read, even if `allowed` contains them. */
  readonly forbidden: readonly string[];
}

/** Decides, directly before connecting, whether a copy from a URL may read from an address. The
 *  client chooses the URL, and must not reach internal services through this server (server-side
 *  request forgery). */
export interface SourcePolicy {
  permits(address: string, port: number): boolean;
}

/** Address ranges whose services trust every local client or return secrets. */
const blockedByDefault = [
  "0.0.0.0/8", // this host; connecting to it reaches the loopback address
  "127.0.0.0/8",
  "169.254.0.0/16", // link-local: where clouds keep the credentials of a machine
  "::/128",
  "::1/128",
  "fe80::/10",
  // Cloud metadata services that are not link-local.
  "100.100.100.200/32",
  "168.63.129.16/32",
  "fd00:ec2::254/128",
];

export function sourcePolicy(
  { allowed, forbidden }: SourceRanges,
  endpoints: Pick<OwnEndpoints, "isAdmin" | "isStorage">,
): SourcePolicy {
  const blockedList = blockListOf(blockedByDefault);
  const allowedList = blockListOf(allowed);
  const forbiddenList = blockListOf(forbidden);
  return {
    permits(address, port) {
      // The address itself and each IPv4 address embedded in it.
      const reached = reachableAddresses(address);
      if (reached.length === 0) return false;
      // Checked first, so that `allowed` cannot let copies reach the admin listener.
      if (reached.some((each) => endpoints.isAdmin(each, port))) return false;
      if (reached.some((each) => isListed(forbiddenList, each))) return false;
      // Only the address that is connected to counts, not one that is embedded in it.
      if (endpoints.isStorage(address, port)) return true;
      if (!reached.some((each) => isListed(blockedList, each))) return true;
      return reached.some((each) => isListed(allowedList, each));
    },
  };
}
