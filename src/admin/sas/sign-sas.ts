import { createSecretKey } from "node:crypto";
import type { AccountSettings } from "../../account/settings.ts";
import { formatIso, formatIsoSeconds } from "../../base/dates.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import {
  accountSasText,
  delegationSasText,
  serviceSasText,
  type SignedResource,
} from "../../protocol/signing/sas-text.ts";
import { ticksPerDay, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { sign } from "../../http/auth/shared-key.ts";
import { reachable } from "../connection-string.ts";
import { gatewayPath } from "../gateway.ts";
import type { SasRequest } from "./sas-request.ts";
import { parseXml, xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { delegationKeyDaysMax } from "../../http/auth/delegation-key.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { callService } from "../call-service.ts";
import type { CheckedRequest } from "../request.ts";
import type { Signature } from "../api-types.ts";

/** A SAS (shared access signature, a signed URL query that gives limited access to storage), as
 *  `POST /admin/v1/sas` returns it. Only the SAS of a resource has URLs. */
type SignedSas = Pick<Signature, "query"> & Partial<Signature>;

interface SigningContext {
  readonly now: Ticks;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

/** A request for a SAS for one container, share, queue, table or an object in it. */
type ResourceSasRequest = Extract<SasRequest, { kind: "service" }>;

/** The key that signs a SAS, and the form of the signed text: an account key or a user delegation
 *  key. */
interface Signer {
  /** The signing key, in base64. */
  readonly key: string;
  /** Service version of the SAS. */
  readonly version: string;
  /** Query parameters that the signer adds, for example the validity of a user delegation key. */
  readonly fields: Readonly<Record<string, string>>;
  readonly textOf: (request: SignableRequest) => string;
}

/** Service version of the SAS: widely supported, and recent enough for every kind. */
const sasVersion = "2024-11-04";

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

function signWith(
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

/** The expiry of the SAS. Undefined if a stored access policy has the expiry. */
function expiryOf({ startsAt, minutes }: SasRequest, now: Ticks): Ticks | undefined {
  if (minutes === undefined) return undefined;
  return (startsAt ?? now) + BigInt(Math.ceil(minutes * 60)) * ticksPerSecond;
}

function signedResourceOf(sasRequest: ResourceSasRequest): SignedResource {
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

/** A request with the parameters of the SAS, from which `protocol/signing` makes the string to
 *  sign. For a SAS that contains only the query, so the other fields are empty. */
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

/** The service version (`sv`) of SAS with a user delegation key: `sasVersion`, or the first version
 *  in which the service accepts such SAS. The table service has no such SAS. */
const delegationVersions: Readonly<Partial<Record<ServiceName, string>>> = {
  blob: sasVersion,
  queue: "2025-07-05",
  file: "2025-07-05",
};

/** Creates a SAS for a principal, which has no account key: with a user delegation key, which the
 *  service issues if the roles of the principal permit it. */
export async function signAsPrincipal(
  request: CheckedRequest,
  sasRequest: SasRequest,
): Promise<AdminResponse> {
  if (sasRequest.kind === "account") {
    return refuse(403, "AccountKeyRequired", "a principal cannot sign for the whole account");
  }
  const { context } = request;
  const now = context.clock.wall();
  const expires = expiryOf(sasRequest, now);
  const version = delegationVersions[sasRequest.service];
  if (version === undefined) {
    return refuse(400, "InvalidInput", "service: a SAS for a table needs the account key");
  }
  if (expires === undefined || sasRequest.fields["si"] !== undefined) {
    return refuse(400, "InvalidInput", "identifier: a stored access policy needs the account key");
  }
  if (expires > now + BigInt(delegationKeyDaysMax) * ticksPerDay) {
    const most = `${delegationKeyDaysMax} days from now`;
    return refuse(400, "InvalidInput", `minutes: a SAS of a principal ends at most ${most}`);
  }
  const key = await delegationKeyOf(request, sasRequest, {
    start: formatIsoSeconds(now),
    expiry: formatIsoSeconds(expires),
  });
  if ("refusal" in key) return key.refusal;
  const textOf = (signed: SignableRequest): string => {
    const text = delegationSasText(signed, signedResourceOf(sasRequest));
    if (text === undefined) throw new Error(`no string to sign for ${sasRequest.service}`);
    return text;
  };
  const { urls } = context.facts();
  return json(signWith({ ...key, version, textOf }, sasRequest, { now, urls }));
}

interface DelegationKey {
  readonly key: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Requests the key with the token of the principal, so that the service checks its roles. */
async function delegationKeyOf(
  request: CheckedRequest,
  { account, service }: ResourceSasRequest,
  { start, expiry }: { readonly start: string; readonly expiry: string },
): Promise<DelegationKey | { readonly refusal: AdminResponse }> {
  const body = element("KeyInfo", textElement("Start", start) + textElement("Expiry", expiry));
  const query = { restype: "service", comp: "userdelegationkey" };
  const call = { account, path: "", query, headers: {}, body };
  const reply = await callService(request, service, { ...call, method: "POST" });
  if (reply === undefined) return { refusal: noAccount(account) };
  const { status, code, message } = reply;
  if (status !== 200) return { refusal: refuse(status, code, message) };
  const root = parseXml(reply.text);
  if (!root.ok) throw new Error(`${service} returned an invalid user delegation key`);
  return keyIn(root.value);
}

/** The parameters of a SAS that describe its user delegation key, with the names of the XML
 *  elements of the key that contain their values. */
const keyFields = {
  skoid: "SignedOid",
  sktid: "SignedTid",
  skt: "SignedStart",
  ske: "SignedExpiry",
  sks: "SignedService",
  skv: "SignedVersion",
} as const;

function keyIn(root: XmlElement): DelegationKey {
  const fields = Object.entries(keyFields).map(([parameter, name]) => [
    parameter,
    xmlChildText(root, name) ?? "",
  ]);
  return { key: xmlChildText(root, "Value") ?? "", fields: Object.fromEntries(fields) };
}
