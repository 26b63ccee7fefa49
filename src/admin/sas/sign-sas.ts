import { createSecretKey } from "node:crypto";
import type { AccountSettings } from "../../account/settings.ts";
import { formatIso, formatIsoSeconds } from "../../base/dates.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import { accountSasText, serviceSasText } from "../../protocol/signing/sas-text.ts";
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

/** Service version of the SAS: widely supported, and recent enough for every kind. */
const sasVersion = "2024-11-04";

/** Creates a SAS with the first key of the account. */
export function signSas(
  account: AccountSettings,
  sasRequest: SasRequest,
  { now, urls }: SigningContext,
): SignedSas {
  const from = sasRequest.startsAt ?? now;
  const life = sasRequest.minutes && BigInt(Math.ceil(sasRequest.minutes * 60)) * ticksPerSecond;
  const expires = life === undefined ? undefined : from + BigInt(life);
  const values = valuesOf(sasRequest, expires);
  const query = new Map([...values].map(([name, value]) => [name, [value]]));
  const request = signable(account.name, query);
  const text =
    sasRequest.kind === "account"
      ? accountSasText(request)
      : serviceSasText(request, {
          service: sasRequest.service,
          name: sasRequest.container,
          path: sasRequest.path,
          snapshotOrVersion: sasRequest.snapshot ?? sasRequest.versionId ?? "",
        });
  values.set("sig", sign(createSecretKey(Buffer.from(account.keys[0], "base64")), text));
  const signed = [...values].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const end = expires === undefined ? {} : { expiresAt: formatIso(expires) };
  const token = { query: signed.join("&"), ...end };
  return sasRequest.kind === "account"
    ? token
    : { ...token, ...addressesOf(sasRequest, urls, token.query) };
}

function valuesOf(sasRequest: SasRequest, expires: Ticks | undefined): Map<string, string> {
  const values = new Map([["sv", sasVersion]]);
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

function resourceLetter(sasRequest: Extract<SasRequest, { kind: "service" }>): string | undefined {
  const { service, path, snapshot, versionId } = sasRequest;
  if (service === "file") return path === undefined ? "s" : "f";
  if (service !== "blob") return undefined;
  if (path === undefined) return "c";
  return snapshot !== undefined ? "bs" : versionId !== undefined ? "bv" : "b";
}

function addressesOf(
  { account, service, container, path }: Extract<SasRequest, { kind: "service" }>,
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
