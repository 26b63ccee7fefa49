import { formsOf } from "./address-forms.ts";
import { blockListOf, isListed } from "./address-ranges.ts";
import type { OwnEndpoints } from "./own-endpoints.ts";

/** Address ranges (CIDR) of the configuration. */
export interface SourceRanges {
  /** Address ranges from which copies may read although they are blocked by default. */
  readonly allowed: readonly string[];
  /** Address ranges from which copies must not read, even if `allowed` contains them. */
  readonly forbidden: readonly string[];
}

/** Decides, directly before connecting, whether a copy may read from an address. */
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
  const blocked = blockListOf(blockedByDefault);
  const permitted = blockListOf(allowed);
  const refused = blockListOf(forbidden);
  return {
    permits(address, port) {
      const forms = formsOf(address);
      if (forms.length === 0) return false;
      // Checked first, so that no option can let copies reach the admin listener.
      if (forms.some((form) => endpoints.isAdmin(form, port))) return false;
      if (forms.some((form) => isListed(refused, form))) return false;
      if (endpoints.isStorage(address, port)) return true;
      if (!forms.some((form) => isListed(blocked, form))) return true;
      return forms.some((form) => isListed(permitted, form));
    },
  };
}
