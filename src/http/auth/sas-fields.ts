import { authenticationFailed } from "../../protocol/authentication-faults.ts";
import { parseIso } from "../../base/dates.ts";
import type { ResponseOverrides } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import { isVersion, type VersionPolicy } from "../../protocol/versions.ts";
import type { Ticks } from "../../base/ticks.ts";
import { parseAddressRange, type AddressRange } from "./address-range.ts";
import type { AuthRequest } from "./request.ts";

const fieldNames = new Set(
  (
    "sv ss srt sp st se sip spr sig sr si ses sdd rscc rscd rsce rscl rsct tn spk srk epk erk " +
    "skoid sktid skt ske sks skv saoid suoid scid sduoid skdutid srh srq"
  ).split(" "),
);

const versionForm = /^\d{4}-\d\d-\d\d$/;
const controlButTab = /[^\P{Cc}\t]/u;

/** Rejects ambiguous fields: one that occurs twice, or one with a line break, which could pass for
 *  two fields of the string to sign. Other control characters are rejected because some fields
 *  become headers. */
export function checkFields(request: AuthRequest, versions: VersionPolicy): Failure | undefined {
  for (const [name, values] of request.query) {
    if (!fieldNames.has(name)) continue;
    if (values.length > 1 || controlButTab.test(values[0] ?? "")) return notWellFormed();
  }
  const version = queryText(request, "sv");
  const isAccepted = versions === "known" ? isVersion(version) : versionForm.test(version);
  return version === "" || isAccepted ? undefined : notWellFormed();
}

export function notWellFormed(): Failure {
  return authenticationFailed("Signature fields not well formed.");
}

export function mandatory(name: string): Failure {
  return authenticationFailed(`${name} is mandatory. Cannot be empty`);
}

/** Fields of every kind of token. */
export interface CommonFields {
  readonly version: string;
  readonly start: Ticks | undefined;
  readonly expiry: Ticks | undefined;
  readonly addresses: AddressRange | undefined;
  readonly httpsOnly: boolean;
}

/** Fields that the string to sign of their version does not cover are ignored. */
export function commonFields(request: AuthRequest): Result<CommonFields> {
  const version = queryText(request, "sv");
  const start = momentOf(request, "st");
  const expiry = momentOf(request, "se");
  if (start === "malformed" || expiry === "malformed") return notWellFormed();
  const restricted = version >= "2015-04-05";
  const addressText = restricted ? queryText(request, "sip") : "";
  const addresses = addressText === "" ? undefined : parseAddressRange(addressText);
  if (addressText !== "" && addresses === undefined) return notWellFormed();
  const protocol = restricted ? queryText(request, "spr") : "";
  const httpsOnly = protocol === "https";
  if (!httpsOnly && !["", "https,http", "http,https"].includes(protocol)) return notWellFormed();
  return ok({ version, start, expiry, addresses, httpsOnly });
}

export function momentOf(request: AuthRequest, name: string): Ticks | undefined | "malformed" {
  const text = queryText(request, name);
  return text === "" ? undefined : (parseIso(text) ?? "malformed");
}

export function encryptionScopeOf(request: AuthRequest): string | undefined {
  if (queryText(request, "sv") < "2020-12-06") return undefined;
  return presentText(request, "ses");
}

export function presentText(request: AuthRequest, name: string): string | undefined {
  const text = queryText(request, name);
  return text === "" ? undefined : text;
}

const overrideHeaders = {
  rscc: "cache-control",
  rscd: "content-disposition",
  rsce: "content-encoding",
  rscl: "content-language",
  rsct: "content-type",
} as const;

/** Values in header form: one character per byte of UTF-8. */
export function overridesOf(request: AuthRequest): ResponseOverrides | undefined {
  if (queryText(request, "sv") < "2013-08-15") return undefined;
  let overrides: ResponseOverrides | undefined;
  for (const [name, header] of Object.entries(overrideHeaders)) {
    const value = presentText(request, name);
    if (value === undefined) continue;
    overrides = { ...overrides, [header]: Buffer.from(value, "utf8").toString("latin1") };
  }
  return overrides;
}

/** The directory of the token: the first `depth` segments of the path. */
export function directoryOf(path: string, depthText: string): Result<string> {
  if (depthText === "") return fail("QueryParameterSasMandatory");
  if (!/^\d{1,3}$/.test(depthText)) return fail("QueryParameterSddInvalid");
  const segments = path.split("/");
  const depth = Number(depthText);
  if (depth > segments.length) return fail("QueryParameterSddInvalid");
  return ok(segments.slice(0, depth).join("/"));
}
