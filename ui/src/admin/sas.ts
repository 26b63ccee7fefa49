import { nowMilliseconds } from "../clock.ts";
import type { Result } from "../result.ts";
import { admin } from "./call.ts";

export interface Signature {
  readonly query: string;
  readonly expiresAt: string;
  readonly url: string;
  readonly gatewayUrl: string;
}

export interface SasWish {
  readonly kind: "account" | "service";
  readonly account: string;
  readonly service?: string;
  readonly container?: string;
  readonly path?: string | undefined;
  readonly snapshot?: string | undefined;
  readonly versionId?: string | undefined;
  readonly permissions?: string;
  readonly services?: string;
  readonly resourceTypes?: string;
  readonly minutes?: number;
  readonly startsAt?: string | undefined;
  readonly ip?: string | undefined;
  readonly protocol?: string | undefined;
  readonly contentDisposition?: string;
  readonly contentType?: string;
}

export function makeSas(wish: SasWish): Promise<Result<Signature>> {
  return admin("sas", { method: "POST", body: wish });
}

/**
 * The address as the source of a copy. The server knows itself by the host it was asked at, and
 * copies within itself at once; as any other address it would fetch itself over the network.
 */
export function sourceUrl({ gatewayUrl }: Signature): string {
  const url = new URL(gatewayUrl, location.origin);
  return location.origin + url.pathname.replace(/^\/storage\/\w+/, "") + url.search;
}

const accessMinutes = 60;
/** A call that begins now may run for a while. */
const renewAfterMilliseconds = 45 * 60_000;

interface Access {
  readonly madeAt: number;
  readonly signature: Promise<Result<Signature>>;
}

const held = new Map<string, Access>();

/** What lets this page's calls in; made once an hour, never shown. */
export function accessTo(account: string): Promise<Result<Signature>> {
  const known = held.get(account);
  if (known !== undefined && nowMilliseconds() - known.madeAt < renewAfterMilliseconds) {
    return known.signature;
  }
  const signature = makeAccess(account);
  held.set(account, { madeAt: nowMilliseconds(), signature });
  return signature;
}

async function makeAccess(account: string): Promise<Result<Signature>> {
  const result = await makeSas({ kind: "account", account, minutes: accessMinutes });
  if (!result.ok) held.delete(account);
  return result;
}

export function forgetAccess(): void {
  held.clear();
}
