import { createSecretKey } from "node:crypto";
import type { AccountSettings } from "../../account/settings.ts";
import { formatIso, formatIsoSeconds } from "../../base/dates.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import {
  accountSasText,
  serviceSasText,
  type SignedResource,
} from "../../protocol/signing/sas-text.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { sign } from "../../http/auth/key-ring.ts";
import { reachable } from "../connection-string.ts";
import { gatewayPath } from "../gateway.ts";
import type { SasRequest } from "./sas-request.ts";

export interface SignedSas {
  readonly query: string;
  readonly expiresAt?: string;
  readonly url?: string;
  readonly gatewayUrl?: string;
}

export interface SigningContext {
  readonly now: Ticks;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

/** A request for a SAS for one container, share, queue, table or an object in it. */
export type ResourceSasRequest = Extract<SasRequest, { kind: "service" }>;

/** What a SAS is signed with. */
export interface Signer {
  /** In base64. */
  readonly key: string;
  /** Service version of the SAS. */
  readonly version: string;
  /** Fields beside those of the request. */
  readonly fields: Readonly<Record<string, string>>;
  readonly textOf: (request: SignableRequest) => string;
}

/** Service version of the SAS: widely supported, and recent enough for every kind. */
export const sasVersion = "2024-11-04";

/** Creates a SAS with the first key of the account. */
export function signSas(
  { keys }: AccountSettings,
  sasRequest: SasRequest,
  context: SigningContext,
): SignedSas {
  const textOf = (request: SignableRequest): string =>
    sasRequest.kind === "account"
      ? accountSasText(request)
      : serviceSasText(request, signedResourceOf(sasRequest));
  return signWith({ key: keys[0], version: sasVersion, fields: {}, textOf }, sasRequest, context);
}

export function signWith(
  { key, version, fields, textOf }: Signer,
  sasRequest: SasRequest,
  { now, urls }: SigningContext,
): SignedSas {
  const expires = expiryOf(sasRequest, now);
  const values = valuesOf(sasRequest, version, expires);
  for (const [name, value] of Object.entries(fields)) values.set(name, value);
  const query = new Map([...values].map(([name, value]) => [name, [value]]));
  const text = textOf(signable(sasRequest.account, query));
  values.set("sig", sign(createSecretKey(Buffer.from(key, "base64")), text));
  const signed = [...values].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const end = expires === undefined ? {} : { expiresAt: formatIso(expires) };
  const token = { query: signed.join("&"), ...end };
  return sasRequest.kind === "account"
    ? token
    : { ...token, ...addressesOf(sasRequest, urls, token.query) };
}

/** Undefined if a stored access policy has the expiry. */
export function expiryOf({ startsAt, minutes }: SasRequest, now: Ticks): Ticks | undefined {
  if (minutes === undefined) return undefined;
  return (startsAt ?? now) + BigInt(Math.ceil(minutes * 60)) * ticksPerSecond;
}

export function signedResourceOf(sasRequest: ResourceSasRequest): SignedResource {
  const { service, container: name, path, snapshot, versionId } = sasRequest;
  return { service, name, path, snapshotOrVersion: snapshot ?? versionId ?? "" };
}

function valuesOf(
  sasRequest: SasRequest,
  version: string,
  expires: Ticks | undefined,
): Map<string, string> {
  const values = new Map([["sv", version]]);
  if (sasRequest.kind === "account") {
    values.set("ss", sasRequest.services).set("srt", sasRequest.resourceTypes);
  } else {
    const kind = resourceLetter(sasRequest);
    if (kind !== undefined) values.set("sr", kind);
    if (sasRequest.service === "table") values.set("tn", sasRequest.container);
    if (sasRequest.snapshot !== undefined) values.set("snapshot", sasRequest.snapshot);
    if (sasRequest.versionId !== undefined) values.set("versionid", sasRequest.versionId);
  }
  if (sasRequest.permissions !== "") values.set("sp", sasRequest.permissions);
  if (sasRequest.startsAt !== undefined) values.set("st", formatIsoSeconds(sasRequest.startsAt));
  if (expires !== undefined) values.set("se", formatIsoSeconds(expires));
  for (const [name, value] of Object.entries(sasRequest.fields)) values.set(name, value);
  return values;
}

function resourceLetter(sasRequest: ResourceSasRequest): string | undefined {
  const { service, path, snapshot, versionId } = sasRequest;
  if (service === "file") return path === undefined ? "s" : "f";
  if (service !== "blob") return undefined;
  if (path === undefined) return "c";
  return snapshot !== undefined ? "bs" : versionId !== undefined ? "bv" : "b";
}

function addressesOf(
  { account, service, container, path }: ResourceSasRequest,
  urls: SigningContext["urls"],
  query: string,
) {
  const below = path === undefined ? "" : `/${path.split("/").map(encodeURIComponent).join("/")}`;
  const place = `/${encodeURIComponent(container)}${below}?${query}`;
  const base = urls[service];
  return {
    gatewayUrl: `${gatewayPath(service, account)}${place}`,
    ...(base === undefined ? {} : { url: `${reachable(base)}/${account}${place}` }),
  };
}

/** The request that is signed. Only its query is part of the string to sign of a SAS. */
function signable(account: string, query: ReadonlyMap<string, readonly string[]>): SignableRequest {
  return {
    method: "GET",
    account,
    rawPath: "",
    query,
    rawHeaders: [],
    version: undefined,
    header: () => undefined,
  };
}
