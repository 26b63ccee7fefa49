import { nowMilliseconds } from "../clock.ts";
import { done, mapped, type Result } from "../result.ts";
import { admin } from "./call.ts";
import type { Signature } from "../../../src/admin/api-types.ts";

export type { Signature } from "../../../src/admin/api-types.ts";

export interface SasRequest {
  readonly kind: "account" | "service";
  readonly account: string;
  readonly service?: string;
  readonly container?: string;
  readonly path?: string | undefined;
  readonly snapshot?: string | undefined;
  readonly versionId?: string | undefined;
  readonly permissions?: string | undefined;
  /** Id of a stored access policy. */
  readonly identifier?: string | undefined;
  readonly services?: string;
  readonly resourceTypes?: string;
  readonly minutes?: number | undefined;
  readonly startsAt?: string | undefined;
  readonly ip?: string | undefined;
  readonly protocol?: string | undefined;
  readonly contentDisposition?: string;
  readonly contentType?: string;
}

export function createSas(sasRequest: SasRequest): Promise<Result<Signature>> {
  return admin<Signature>("sas", { method: "POST", body: sasRequest });
}

/** What to read: a blob or file, or a generation of it. */
interface Readable extends Pick<SasRequest, "account" | "snapshot" | "versionId"> {
  readonly service: "blob" | "file";
  readonly container: string;
  readonly path: string;
  /** The share snapshot that a file is in. */
  readonly shareSnapshot?: string | undefined;
  readonly contentDisposition?: string | undefined;
}

/** A URL of the gateway that the browser can read itself, whatever the size of the content. */
export async function readingUrl(readable: Readable): Promise<Result<string>> {
  const { shareSnapshot, contentDisposition, ...target } = readable;
  const access = await accessTo(target.account);
  if (!access.ok) return access;
  // As a principal: the gateway adds its token.
  if (access.value.query === "") return done(unsignedUrl(readable));
  const overrides = contentDisposition === undefined ? {} : { contentDisposition };
  const made = await createSas({ kind: "service", ...target, permissions: "r", ...overrides });
  const more = shareSnapshot === undefined ? "" : `&${queryOf({ sharesnapshot: shareSnapshot })}`;
  return mapped(made, ({ gatewayUrl }) => gatewayUrl + more);
}

function unsignedUrl(readable: Readable): string {
  const { account, service, container, path, snapshot, versionId, shareSnapshot } = readable;
  const names = [account, container, ...path.split("/")].map(encodeURIComponent).join("/");
  const query = queryOf({ snapshot, versionid: versionId, sharesnapshot: shareSnapshot });
  return `/storage/${service}/${names}${query === "" ? "" : `?${query}`}`;
}

function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return new URLSearchParams(given).toString();
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
  // A principal has no key, and needs no signature: the gateway adds its token.
  const isPrincipal = !result.ok && result.failure.code === "AccountKeyRequired";
  if (isPrincipal) return done({ query: "", expiresAt: "", url: "", gatewayUrl: "" });
  if (!result.ok) held.delete(account);
  return result;
}

export function forgetAccess(): void {
  held.clear();
}
