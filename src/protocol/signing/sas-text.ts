import type { SasResource } from "../principal.ts";
import { queryText, type SignableRequest } from "./request.ts";

/** The strings to sign of shared access signatures, by the token's `sv`. `http/auth/sas.ts`
 *  verifies signatures with them, the admin API signs.
 *  learn.microsoft.com/rest/api/storageservices/delegate-access-with-shared-access-signature */

/** The string to sign of an account SAS. Every field ends with a newline, also the last one. */
export function accountSasText(request: SignableRequest): string {
  const field = (name: string) => queryText(request, name);
  const version = field("sv");
  const text =
    `${request.account}\n${field("sp")}\n${field("ss")}\n${field("srt")}\n${field("st")}\n` +
    `${field("se")}\n${field("sip")}\n${field("spr")}\n${version}\n`;
  return version >= "2020-12-06" ? `${text}${field("ses")}\n` : text;
}

/** The resource of a SAS as strings to sign contain it: with names that are not percent-encoded. */
export type SignedResource = Omit<SasResource, "kind">;

const responseFields = ["rscc", "rscd", "rsce", "rscl", "rsct"];
const entityFields = ["spk", "srk", "epk", "erk"];

/** The string to sign of a service SAS. Newer versions sign more fields. */
export function serviceSasText(request: SignableRequest, resource: SignedResource): string {
  const version = queryText(request, "sv");
  const fields = (names: readonly string[]) => names.map((name) => queryText(request, name));
  const parts = fields(["sp", "st", "se"]);
  parts.push(canonicalName(request.account, version, resource), queryText(request, "si"));
  if (version >= "2015-04-05") parts.push(...fields(["sip", "spr"]));
  if (version >= "2012-02-12") parts.push(version);
  switch (resource.service) {
    case "blob":
      if (version >= "2018-11-09") parts.push(queryText(request, "sr"), resource.snapshotOrVersion);
      if (version >= "2020-12-06") parts.push(queryText(request, "ses"));
      if (version >= "2013-08-15") parts.push(...fields(responseFields));
      break;
    case "file":
      if (version >= "2013-08-15") parts.push(...fields(responseFields));
      break;
    case "table":
      if (version >= "2012-02-12") parts.push(...fields(entityFields));
      break;
    case "queue":
      break;
  }
  return parts.join("\n");
}

/** The string to sign of a user delegation SAS; undefined if the version has no such tokens. */
export function delegationSasText(
  request: SignableRequest,
  resource: SignedResource,
): string | undefined {
  const version = queryText(request, "sv");
  const { service } = resource;
  const since = service === "blob" ? "2018-11-09" : "2025-07-05";
  if (service === "table" || version < since) return undefined;
  const fields = (...names: readonly string[]) => names.map((name) => queryText(request, name));
  const parts = fields("sp", "st", "se");
  parts.push(canonicalName(request.account, version, resource));
  parts.push(...fields("skoid", "sktid", "skt", "ske", "sks", "skv"));
  if (service === "blob" && version >= "2020-02-10")
    parts.push(...fields("saoid", "suoid", "scid"));
  if (version >= "2025-07-05") parts.push(...fields("skdutid", "sduoid"));
  parts.push(...fields("sip", "spr"), version);
  if (service === "queue") return parts.join("\n");
  if (service === "blob") {
    parts.push(queryText(request, "sr"), resource.snapshotOrVersion);
    if (version >= "2020-12-06") parts.push(queryText(request, "ses"));
    if (version >= "2026-04-06") parts.push(boundHeaders(request), boundQuery(request));
  }
  parts.push(...fields(...responseFields));
  return parts.join("\n");
}

/** The resource as the string to sign contains it. Before 2015-02-21 it does not include the
 *  service. */
function canonicalName(account: string, version: string, resource: SignedResource): string {
  const { service, path } = resource;
  const name = service === "table" ? resource.name.toLowerCase() : resource.name;
  const whole = `/${account}/${name}${path === undefined ? "" : `/${path}`}`;
  return version >= "2015-02-21" ? `/${service}${whole}` : whole;
}

/** The headers that the SAS names (`srh`), with the values of this request. They are signed, so
 *  that a request with other values than those of its SAS fails. */
function boundHeaders(request: SignableRequest): string {
  let text = "";
  for (const name of namesIn(queryText(request, "srh"))) {
    text += `${name}:${request.header(name.toLowerCase()) ?? ""}\n`;
  }
  return text;
}

/** The query parameters that the SAS requires with these values (`srq`), as lines of the string to
 *  sign. Names are signed as the list has them, and found whatever their case is. */
function boundQuery(request: SignableRequest): string {
  let text = "";
  for (const name of namesIn(queryText(request, "srq"))) {
    text += `\n${name}:${queryText(request, name.toLowerCase())}`;
  }
  return text;
}

function namesIn(list: string): readonly string[] {
  return list === "" ? [] : list.split(",");
}
