import { nowMilliseconds } from "../clock.ts";
import { done, type Result } from "../result.ts";
import { admin } from "./call.ts";

export interface Signature {
  readonly query: string;
  readonly expiresAt: string;
  readonly url: string;
  readonly gatewayUrl: string;
}

export interface SasRequest {
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

export async function createSas(sasRequest: SasRequest): Promise<Result<Signature>> {
  const result = await admin<Signature>("sas", { method: "POST", body: sasRequest });
  // A download as a principal needs no signature: the gateway adds the principal's token.
  const isDownload = sasRequest.contentDisposition !== undefined;
  return isDownload && isWithoutKey(result) ? done(unsigned(sasRequest)) : result;
}

/** Whether the login is that of a principal, which cannot sign. */
function isWithoutKey(result: Result<unknown>): boolean {
  return !result.ok && result.failure.code === "AccountKeyRequired";
}

function unsigned({ account, service = "blob", container = "", path = "" }: SasRequest): Signature {
  const names = [account, container, ...path.split("/")].map(encodeURIComponent).join("/");
  const gatewayUrl = `/storage/${service}/${names}`;
  return { query: "", expiresAt: "", url: gatewayUrl, gatewayUrl };
}

const accessMinutes = 60;
/** Age at which the SAS is renewed, before its expiry, because a call may run for some time. */
const renewAfterMilliseconds = 45 * 60_000;

interface Access {
  readonly madeAt: number;
  readonly signature: Promise<Result<Signature>>;
}

const held = new Map<string, Access>();

/** The SAS for the calls of the explorer to an account. It is created about once per hour and never
 *  shown. */
export function accessTo(account: string): Promise<Result<Signature>> {
  const known = held.get(account);
  if (known !== undefined && nowMilliseconds() - known.madeAt < renewAfterMilliseconds) {
    return known.signature;
  }
  const signature = createAccess(account);
  held.set(account, { madeAt: nowMilliseconds(), signature });
  return signature;
}

async function createAccess(account: string): Promise<Result<Signature>> {
  const result = await createSas({ kind: "account", account, minutes: accessMinutes });
  if (isWithoutKey(result)) return done(unsigned({ kind: "account", account }));
  if (!result.ok) held.delete(account);
  return result;
}

export function forgetAccess(): void {
  held.clear();
}
