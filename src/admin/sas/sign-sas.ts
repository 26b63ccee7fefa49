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

export interface SigningMoment {
  readonly now: Ticks;
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

/** In wide use, and new enough for every kind of token. */
const sasVersion = "2024-11-04";

export function signSas(
  account: AccountSettings,
  wish: SasRequest,
  { now, urls }: SigningMoment,
): SignedSas {
  const from = wish.startsAt ?? now;
  const life = wish.minutes && BigInt(Math.ceil(wish.minutes * 60)) * ticksPerSecond;
  const expires = life === undefined ? undefined : from + BigInt(life);
  const values = valuesOf(wish, expires);
  const query = new Map([...values].map(([name, value]) => [name, [value]]));
  const request = signable(account.name, query);
  const text =
    wish.kind === "account"
      ? accountSasText(request)
      : serviceSasText(request, {
          service: wish.service,
          name: wish.container,
          path: wish.path,
          moment: wish.snapshot ?? wish.versionId ?? "",
        });
  values.set("sig", sign(createSecretKey(Buffer.from(account.keys[0], "base64")), text));
  const signed = [...values].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const end = expires === undefined ? {} : { expiresAt: formatIso(expires) };
  const token = { query: signed.join("&"), ...end };
  return wish.kind === "account" ? token : { ...token, ...addressesOf(wish, urls, token.query) };
}

function valuesOf(wish: SasRequest, expires: Ticks | undefined): Map<string, string> {
  const values = new Map([["sv", sasVersion]]);
  if (wish.kind === "account") {
    values.set("ss", wish.services).set("srt", wish.resourceTypes);
  } else {
    const kind = resourceLetter(wish);
    if (kind !== undefined) values.set("sr", kind);
    if (wish.service === "table") values.set("tn", wish.container);
    if (wish.snapshot !== undefined) values.set("snapshot", wish.snapshot);
    if (wish.versionId !== undefined) values.set("versionid", wish.versionId);
  }
  if (wish.permissions !== "") values.set("sp", wish.permissions);
  if (wish.startsAt !== undefined) values.set("st", formatIsoSeconds(wish.startsAt));
  if (expires !== undefined) values.set("se", formatIsoSeconds(expires));
  for (const [name, value] of Object.entries(wish.fields)) values.set(name, value);
  return values;
}

function resourceLetter(wish: Extract<SasRequest, { kind: "service" }>): string | undefined {
  const { service, path, snapshot, versionId } = wish;
  if (service === "file") return path === undefined ? "s" : "f";
  if (service !== "blob") return undefined;
  if (path === undefined) return "c";
  return snapshot !== undefined ? "bs" : versionId !== undefined ? "bv" : "b";
}

function addressesOf(
  { account, service, container, path }: Extract<SasRequest, { kind: "service" }>,
  urls: SigningMoment["urls"],
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

/** Only the query of such a request enters the text. */
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
