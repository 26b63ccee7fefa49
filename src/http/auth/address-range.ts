/** The IPv4 addresses that a token may be used from, as numbers, inclusive. */
export interface AddressRange {
  readonly first: number;
  readonly last: number;
}

const loopback = "127.0.0.1";

/** Parses `168.1.5.65` or `168.1.5.60-168.1.5.70`; undefined if malformed. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [firstText = "", lastText = firstText, ...rest] = text.split("-");
  const first = parseIpv4(firstText);
  const last = parseIpv4(lastText);
  if (rest.length > 0 || first === undefined || last === undefined) return undefined;
  return { first, last };
}

export function isWithin(range: AddressRange, remoteAddress: string | undefined): boolean {
  if (remoteAddress === undefined) return false;
  const address = parseIpv4(asIpv4(remoteAddress));
  return address !== undefined && address >= range.first && address <= range.last;
}

/** The IPv4 form of an address. A dual-stack socket reports IPv4 clients as `::ffff:10.0.0.1`, and
 *  a client on the same machine may use `::1` although its token says 127.0.0.1. */
function asIpv4(address: string): string {
  if (address === "::1") return loopback;
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

function parseIpv4(text: string): number | undefined {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (found === null) return undefined;
  let address = 0;
  for (const part of found.slice(1)) {
    if (Number(part) > 255) return undefined;
    address = address * 256 + Number(part);
  }
  return address;
}
