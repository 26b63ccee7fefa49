import type { OwnEndpoints } from "./own-endpoints.ts";
import { isIP, BlockList, isIPv6 } from "node:net";

/** Which addresses copies and webhooks may connect to. The client chooses these URLs, and must not
 *  reach internal services through this server (server-side request forgery). */

/** Address ranges (CIDR) of the configuration. */
export interface SourceRanges {
  /** Ranges from which copies may read although they are blocked by default. */
  readonly allowed: readonly string[];
  /** Ranges from which copies must not read, even if `allowed` contains them. */
  readonly forbidden: readonly string[];
}

/** Decides, directly before connecting, whether a copy or webhook may connect to an address, so
 *  that a DNS name cannot lead to a blocked one. */
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

/** Combines the ranges of the configuration with the ranges that are always blocked. */
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
      // The address of the connection counts, not an address that is embedded in it.
      if (endpoints.isStorage(address, port)) return true;
      if (!reached.some((each) => isListed(blockedList, each))) return true;
      return reached.some((each) => isListed(allowedList, each));
    },
  };
}

const groupsCount = 8;
const byteMax = 0xff;
const groupMax = 0xffff;

/** Every address that a connection to this address may reach: the address itself, and each IPv4
 *  address embedded in an IPv6 one. A translator or tunnel delivers to the inner address, so rules
 *  about it must apply to the outer one, too. Example: for `64:ff9b::7f00:1` the result is itself
 *  and `127.0.0.1`. Empty if the text is no address. */
export function reachableAddresses(address: string): readonly string[] {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIP(bare) === 4) return [bare];
  const groups = isIP(bare) === 6 ? groupsOf(bare) : undefined;
  if (groups === undefined) return [];
  return [bare, ...new Set(embeddedIn(groups))];
}

/** The address to which the operating system connects: `::ffff:127.0.0.1` is `127.0.0.1`, in any
 *  notation. Undefined if the text is no address. */
export function directFormOf(address: string): string | undefined {
  const [bare, ...embedded] = reachableAddresses(address);
  if (bare === undefined || isIP(bare) === 4) return bare;
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === groupMax;
  return isMapped ? embedded[0] : bare;
}

type Groups = readonly number[];

/** The eight 16-bit groups of a valid IPv6 address in any notation. */
function groupsOf(address: string): Groups {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const bytes = dotted?.slice(1).map(Number) ?? [];
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const text = dotted === null ? address : address.slice(0, dotted.index) + tail;
  const [left = "", right] = text.split("::");
  const head = numbersOf(left);
  const end = right === undefined ? [] : numbersOf(right);
  const zeros = Array.from({ length: groupsCount - head.length - end.length }, () => 0);
  return [...head, ...zeros, ...end];
}

function numbersOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

/** The IPv4 addresses that are embedded in an IPv6 address, by its prefix (RFC 4291, 6052, 8215,
 *  3056, 4380, 5214). */
function* embeddedIn(groups: Groups): Generator<string> {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const startsWithZeros = [a, b, c, d].every((group) => group === 0);
  const isMapped = startsWithZeros && ((e === 0 && f === groupMax) || (e === groupMax && f === 0));
  const isCompatible = startsWithZeros && e === 0 && f === 0;
  if (isMapped || isCompatible) yield dottedOf(g, h);
  if (a === 0x64 && b === 0xff9b) {
    yield dottedOf(g, h);
    // A network-specific prefix of 48 bits: the address continues after a zero byte.
    yield dottedOf(d, ((e & byteMax) << 8) | (f >> 8));
  }
  if (a === 0x2002) yield dottedOf(b, c);
  if (a === 0x2001 && b === 0) yield dottedOf(g ^ groupMax, h ^ groupMax);
  if ((e === 0 || e === 0x200) && f === 0x5efe) yield dottedOf(g, h);
}

function dottedOf(high: number, low: number): string {
  return [high >> 8, high & byteMax, low >> 8, low & byteMax].join(".");
}

/** Whether the text is an address range (`10.0.0.0/8`, `fd00::/8`) or one address. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.trim().split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  );
}

/** Converts valid address ranges to Node's list for look-ups. */
export function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.trim().split("/");
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export function isListed(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
