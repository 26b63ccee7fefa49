import { authenticationFailed } from "../../protocol/authentication-faults.ts";
import { parseIso } from "../../base/dates.ts";
import type { ResponseOverrides, SasResource, SasResourceKind } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import { isKnownVersion, type VersionPolicy } from "../../protocol/versions.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { AuthRequest } from "./request.ts";

/** Parses the query parameters of a shared access signature (SAS): validity, permissions, client
 *  addresses, response headers, and the resource that it is for. `sas.ts` verifies signatures with
 *  the results; `diagnosis` explains with them why one did not match. */

/** All query parameters of a shared access signature (SAS): `sv` version, `st` start, `se` expiry,
 *  `sp` permissions, `sip` client addresses, `spr` protocols, `ses` encryption scope, `sdd`
 *  directory depth, `rsc…` response headers, and those of the single kinds of token. */
const fieldNames = new Set(
  (
    "sv ss srt sp st se sip spr sig sr si ses sdd rscc rscd rsce rscl rsct tn spk srk epk erk " +
    "skoid sktid skt ske sks skv saoid suoid scid sduoid skdutid srh srq"
  ).split(" "),
);

const versionForm = /^\d{4}-\d\d-\d\d$/;
const controlExceptTab = /[^\P{Cc}\t]/u;

/** Rejects ambiguous fields: a field that occurs twice, or one with a line break, with which one
 *  value could be read as two lines of the string to sign. Other control characters are rejected
 *  because some fields are sent as headers. */
export function checkFields(request: AuthRequest, versions: VersionPolicy): Failure | undefined {
  for (const [name, values] of request.query) {
    if (!fieldNames.has(name)) continue;
    if (values.length > 1 || controlExceptTab.test(values[0] ?? "")) return notWellFormed();
  }
  const version = queryText(request, "sv");
  const isAccepted = versions === "known" ? isKnownVersion(version) : versionForm.test(version);
  return version === "" || isAccepted ? undefined : notWellFormed();
}

/** The fault of a token with malformed fields. */
export function notWellFormed(): Failure {
  return authenticationFailed("Signature fields not well formed.");
}

/** The fault of a token without a mandatory field. */
export function mandatory(name: string): Failure {
  return authenticationFailed(`${name} is mandatory. Cannot be empty`);
}

/** The parsed fields that all kinds of token have. */
interface CommonFields {
  readonly version: string;
  readonly start: Ticks | undefined;
  readonly expiry: Ticks | undefined;
  readonly addresses: AddressRange | undefined;
  readonly httpsOnly: boolean;
}

/** Parses the fields of all kinds of token. Ignores `sip` and `spr` in versions that do not sign
 *  them: anyone could have added them. */
export function commonFields(request: AuthRequest): Result<CommonFields> {
  const version = queryText(request, "sv");
  const start = timeField(request, "st");
  const expiry = timeField(request, "se");
  if (start === "malformed" || expiry === "malformed") return notWellFormed();
  const signsRestrictions = version >= "2015-04-05";
  const addressText = signsRestrictions ? queryText(request, "sip") : "";
  const addresses = addressText === "" ? undefined : parseAddressRange(addressText);
  if (addressText !== "" && addresses === undefined) return notWellFormed();
  const protocol = signsRestrictions ? queryText(request, "spr") : "";
  const httpsOnly = protocol === "https";
  if (!httpsOnly && !["", "https,http", "http,https"].includes(protocol)) return notWellFormed();
  return ok({ version, start, expiry, addresses, httpsOnly });
}

/** The time in a field of the SAS; undefined if the field is absent. */
export function timeField(request: AuthRequest, name: string): Ticks | undefined | "malformed" {
  const text = queryText(request, name);
  return text === "" ? undefined : (parseIso(text) ?? "malformed");
}

/** The encryption scope (`ses`) that a SAS is limited to; older versions do not sign it. */
export function encryptionScopeOf(request: AuthRequest): string | undefined {
  if (queryText(request, "sv") < "2020-12-06") return undefined;
  return nonEmptyText(request, "ses");
}

/** The value of a field of the SAS; undefined if it is absent or empty. */
export function nonEmptyText(request: AuthRequest, name: string): string | undefined {
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

/** The response headers that the token replaces. Node sends one byte per character, so each byte of
 *  the UTF-8 value becomes one character. */
export function overridesOf(request: AuthRequest): ResponseOverrides | undefined {
  if (queryText(request, "sv") < "2013-08-15") return undefined;
  let overrides: ResponseOverrides | undefined;
  for (const [name, header] of Object.entries(overrideHeaders)) {
    const value = nonEmptyText(request, name);
    if (value === undefined) continue;
    overrides = { ...overrides, [header]: Buffer.from(value, "utf8").toString("latin1") };
  }
  return overrides;
}

/** The directory that a token is valid for: the first `sdd` segments of the requested path. */
function directoryOf(path: string, depthText: string): Result<string> {
  if (depthText === "") return fail("QueryParameterSasMandatory");
  if (!/^\d{1,3}$/.test(depthText)) return fail("QueryParameterSddInvalid");
  const segments = path.split("/");
  const depth = Number(depthText);
  // The path is not in the directory that the token was signed for.
  if (depth > segments.length)
    return authenticationFailed("The path is above the signed directory");
  return ok(segments.slice(0, depth).join("/"));
}

/** Finds the resource that a token is for: the URL names it, and `sr` says which kind it is. */
export function tokenResource(request: AuthRequest): Result<SasResource> {
  switch (request.service) {
    case "blob":
      return blobResource(request);
    case "file":
      return fileResource(request);
    case "queue":
      return queueResource(request);
    case "table":
      return tableResource(request);
  }
}

const blobKinds: Readonly<Record<string, SasResourceKind>> = {
  c: "container",
  b: "blob",
  bs: "snapshot",
  bv: "version",
  d: "directory",
};

/** The first version of the SAS (`sv`) that has each kind of resource. */
const kindSince: Readonly<Partial<Record<SasResourceKind, string>>> = {
  snapshot: "2018-11-09",
  version: "2019-10-10",
};

function blobResource(request: AuthRequest): Result<SasResource> {
  const signed = queryText(request, "sr");
  if (signed === "") return mandatory("sr");
  const kind = blobKinds[signed];
  if (kind === undefined) return notWellFormed();
  const { name, path } = request.resource;
  if (name === undefined) return wrongLevel();
  const version = queryText(request, "sv");
  if (version < (kindSince[kind] ?? "")) return notWellFormed();
  const resource = { ...wholeResource(request, name), kind };
  if (kind === "container") return ok(resource);
  if (kind === "directory") return directoryResource(request, resource);
  if (path === undefined) return wrongLevel();
  if (kind === "blob") return ok({ ...resource, path });
  const snapshotOrVersion = queryText(request, kind === "snapshot" ? "snapshot" : "versionid");
  return snapshotOrVersion === "" ? wrongLevel() : ok({ ...resource, path, snapshotOrVersion });
}

function directoryResource(request: AuthRequest, resource: SasResource): Result<SasResource> {
  if (queryText(request, "sv") < "2020-02-10") return fail("DirectorySasNotSupportedVersion");
  const directory = directoryOf(request.resource.path ?? "", queryText(request, "sdd"));
  if (!directory.ok) return directory;
  return ok({ ...resource, path: directory.value === "" ? undefined : directory.value });
}

function fileResource(request: AuthRequest): Result<SasResource> {
  const signed = queryText(request, "sr");
  if (signed === "") return mandatory("sr");
  if (signed !== "s" && signed !== "f") return notWellFormed();
  const { name, path } = request.resource;
  if (name === undefined) return wrongLevel();
  const resource = wholeResource(request, name);
  if (signed === "s") return ok({ ...resource, kind: "share" });
  return path === undefined ? wrongLevel() : ok({ ...resource, kind: "file", path });
}

function queueResource(request: AuthRequest): Result<SasResource> {
  const { name } = request.resource;
  if (name === undefined) return wrongLevel();
  return ok({ ...wholeResource(request, name), kind: "queue" });
}

/** A table SAS names its table in `tn`, because the URL of a transaction has none. */
function tableResource(request: AuthRequest): Result<SasResource> {
  const name = queryText(request, "tn");
  if (name === "") return mandatory("tn");
  const addressed = request.resource.name;
  if (addressed !== undefined && addressed.toLowerCase() !== name.toLowerCase()) {
    return fail("AuthorizationFailure");
  }
  return ok({ ...wholeResource(request, name), kind: "table" });
}

/** The fields of a token that is for everything in a container, share, queue or table. */
function wholeResource({ service }: AuthRequest, name: string) {
  return { service, name, path: undefined, snapshotOrVersion: "" };
}

/** The fault of a token for another kind of resource than the URL names. Recorded from Azure for
 *  the token of a container, sent with a batch to the account. */
function wrongLevel(): Failure {
  return authenticationFailed(
    "The specified signed resource is not allowed for this resource level",
  );
}

/** The IPv4 addresses that a SAS may be used from (`sip`), as numbers; both ends are inside. */
export interface AddressRange {
  readonly first: number;
  readonly last: number;
}

const loopback = "127.0.0.1";

/** Parses `168.1.5.65` or `168.1.5.60-168.1.5.70`; undefined if malformed. */
function parseAddressRange(text: string): AddressRange | undefined {
  const [firstText = "", lastText = firstText, ...rest] = text.split("-");
  const first = parseIpv4(firstText);
  const last = parseIpv4(lastText);
  if (rest.length > 0 || first === undefined || last === undefined) return undefined;
  return { first, last };
}

/** Whether a client may use a SAS that is limited to these addresses. */
export function isWithin(range: AddressRange, remoteAddress: string | undefined): boolean {
  if (remoteAddress === undefined) return false;
  const address = parseIpv4(asIpv4(remoteAddress));
  return address !== undefined && address >= range.first && address <= range.last;
}

/** The IPv4 form of an address. A dual-stack socket reports IPv4 clients as `::ffff:10.0.0.1`, and
 *  a client on the same machine may use `::1` although its token says 127.0.0.1. */
function asIpv4(address: string): string {
  if (address === "::1") return loopback;
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}

function parseIpv4(text: string): number | undefined {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (found === null) return undefined;
  let address = 0;
  for (const part of found.slice(1)) {
    if (Number(part) > 255) return undefined;
    address = address * 256 + Number(part);
  }
  return address;
}
