import { formatIsoSeconds } from "../../base/dates.ts";
import { ticksPerDay } from "../../base/ticks.ts";
import { parseXml, xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { delegationKeyDaysMax } from "../../http/auth/delegation-key.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { SignableRequest } from "../../protocol/signing/request.ts";
import { delegationSasText } from "../../protocol/signing/sas-text.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { callService } from "../call-service.ts";
import type { CheckedRequest } from "../request.ts";
import type { SasRequest } from "./sas-request.ts";
import {
  expiryOf,
  sasVersion,
  signedResourceOf,
  signWith,
  type ResourceSasRequest,
} from "./sign-sas.ts";

/** The service versions of these SAS, from the first on that the service has them. A table has
 *  none. */
const versions: Readonly<Partial<Record<ServiceName, string>>> = {
  blob: sasVersion,
  queue: "2025-07-05",
  file: "2025-07-05",
};

/** Creates a SAS for a principal, which has no account key: with a user delegation key, which the
 *  service issues if the roles of the principal permit it. */
export async function signAsPrincipal(
  context: ViewContext,
  request: CheckedRequest,
  sasRequest: SasRequest,
): Promise<AdminResponse> {
  if (sasRequest.kind === "account") {
    return refuse(403, "AccountKeyRequired", "a principal cannot sign for the whole account");
  }
  const now = context.clock.wall();
  const expires = expiryOf(sasRequest, now);
  const version = versions[sasRequest.service];
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
  const key = await delegationKeyOf(context, request, sasRequest, {
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

async function delegationKeyOf(
  context: ViewContext,
  { accounts, grant }: CheckedRequest,
  { account, service }: ResourceSasRequest,
  { start, expiry }: { readonly start: string; readonly expiry: string },
): Promise<DelegationKey | { readonly refusal: AdminResponse }> {
  const body = element("KeyInfo", textElement("Start", start) + textElement("Expiry", expiry));
  const query = { restype: "service", comp: "userdelegationkey" };
  const call = { accounts, grant, account, path: "", query, headers: {}, body };
  const reply = await callService(context, service, { ...call, method: "POST" });
  if (reply === undefined) return { refusal: noAccount(account) };
  const { status, code, message } = reply;
  if (status !== 200) return { refusal: refuse(status, code, message) };
  const root = parseXml(reply.text);
  if (!root.ok) throw new Error(`${service} returned an invalid user delegation key`);
  return keyIn(root.value);
}

/** The parameters of a SAS with the names of a key's fields. */
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
