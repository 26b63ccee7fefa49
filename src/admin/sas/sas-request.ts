import { parseIso } from "../../base/dates.ts";
import { serviceNames, type ServiceName } from "../../protocol/names.ts";
import type { Ticks } from "../../base/ticks.ts";
import { isMissing, oneOf, formatValue, textCheck } from "../inputs.ts";
import type { JsonObject } from "../request.ts";

/** A request of the explorer for a SAS (shared access signature, a signed URL query that gives
 *  limited access to storage), after `parseSasRequest` has validated its body. `sign-sas.ts` signs
 *  it. */
export type SasRequest = CommonSasFields & (AccountSasFields | ServiceSasFields);

interface CommonSasFields {
  readonly account: string;
  /** Lifetime, from `startsAt` or else from now. Undefined if a stored access policy has the
   *  expiry. */
  readonly minutes: number | undefined;
  readonly startsAt: Ticks | undefined;
  readonly permissions: string;
  /** Further query parameters of the SAS by name. */
  readonly fields: Readonly<Record<string, string>>;
}

interface AccountSasFields {
  readonly kind: "account";
  readonly services: string;
  readonly resourceTypes: string;
}

interface ServiceSasFields {
  readonly kind: "service";
  readonly service: ServiceName;
  readonly container: string;
  readonly path: string | undefined;
  readonly snapshot: string | undefined;
  readonly versionId: string | undefined;
}

interface InputProblem {
  readonly problem: string;
}

const minutesDefault = 60;
const minutesMax = 5_256_000;
const allPermissions = "rwdxylacuptfi";
/** All permission letters, with those for directories, which a SAS of an account with a
 *  hierarchical namespace may have. */
const permissionLetters = `${allPermissions}meo`;

const fieldNames: Readonly<Record<string, string>> = {
  ip: "sip",
  protocol: "spr",
  identifier: "si",
  cacheControl: "rscc",
  contentDisposition: "rscd",
  contentEncoding: "rsce",
  contentLanguage: "rscl",
  contentType: "rsct",
  startPartitionKey: "spk",
  startRowKey: "srk",
  endPartitionKey: "epk",
  endRowKey: "erk",
};
const otherNames = [
  "kind",
  "account",
  "minutes",
  "startsAt",
  "permissions",
  "services",
  "resourceTypes",
  "service",
  "container",
  "path",
  "snapshot",
  "versionId",
];
const known = new Set([...otherNames, ...Object.keys(fieldNames)]);
const knownList = `accepted are ${[...known].join(", ")}`;
/** Control characters are rejected: a line break would end a field in the string to sign. */
const control = /\p{Cc}/u;

export function parseSasRequest(input: JsonObject): SasRequest | InputProblem {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(input)) {
    if (!known.has(name)) return { problem: `${formatValue(name)} is unknown: ${knownList}` };
    if (name === "minutes" || isMissing(value)) continue;
    const wrong = textCheck(value);
    if (wrong !== undefined || typeof value !== "string") return { problem: `${name} ${wrong}` };
    if (control.test(value)) return { problem: `${name} contains control characters` };
    texts[name] = value;
  }
  const given = input["minutes"] ?? undefined;
  if (given !== undefined && !isMinutes(given)) {
    const bounds = `a number above 0, up to ${minutesMax}`;
    return { problem: `minutes must be ${bounds}, not ${formatValue(given)}` };
  }
  const minutes = given ?? (texts["identifier"] === undefined ? minutesDefault : undefined);
  const startsAt = texts["startsAt"] === undefined ? undefined : parseIso(texts["startsAt"]);
  if (texts["startsAt"] !== undefined && startsAt === undefined) {
    const form = "a time such as 2026-01-01T00:00:00Z";
    return { problem: `startsAt must be ${form}, not ${formatValue(texts["startsAt"])}` };
  }
  if (texts["account"] === undefined) return { problem: "account is missing" };
  const common = { account: texts["account"], minutes, startsAt, fields: fieldsOf(texts) };
  return texts["kind"] === "service"
    ? parseServiceSas(texts, common)
    : parseAccountSas(texts, common);
}

function isMinutes(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= minutesMax;
}

function fieldsOf(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const [name, field] of Object.entries(fieldNames)) {
    const value = texts[name];
    if (value !== undefined) fields[field] = value;
  }
  return fields;
}

type CommonWithoutPermissions = Omit<CommonSasFields, "permissions">;

function parseAccountSas(
  texts: Readonly<Record<string, string>>,
  common: CommonWithoutPermissions,
): SasRequest | InputProblem {
  const { kind, services = "bqtf", resourceTypes = "sco", permissions = allPermissions } = texts;
  if (kind !== undefined && kind !== "account") {
    return { problem: `kind must be account or service, not ${formatValue(kind)}` };
  }
  const wrong =
    lettersIn({ services }, "bqtf") ??
    lettersIn({ resourceTypes }, "sco") ??
    lettersIn({ permissions }, permissionLetters);
  if (wrong !== undefined) return wrong;
  return { ...common, kind: "account", services, resourceTypes, permissions };
}

const serviceCheck = oneOf(serviceNames);

function lettersIn(
  given: Readonly<Record<string, string>>,
  letters: string,
): InputProblem | undefined {
  const wrong = Object.entries(given).find(
    ([, value]) => !new RegExp(`^[${letters}]*$`).test(value),
  );
  if (wrong === undefined) return undefined;
  return { problem: `${wrong[0]} must be letters of ${letters}, not ${formatValue(wrong[1])}` };
}

function parseServiceSas(
  texts: Readonly<Record<string, string>>,
  common: CommonWithoutPermissions,
): SasRequest | InputProblem {
  const unknown = serviceCheck(texts["service"]);
  if (unknown !== undefined) return { problem: `service ${unknown}` };
  const service = texts["service"] as ServiceName;
  const { container, path, snapshot, versionId, permissions = "" } = texts;
  if (container === undefined) return { problem: "container is missing" };
  const hasPolicy = common.fields["si"] !== undefined;
  if (!hasPolicy && permissions === "") {
    return { problem: "permissions is missing: letters such as r, or the identifier of a policy" };
  }
  const wrong = permissions === "" ? undefined : lettersIn({ permissions }, permissionLetters);
  if (wrong !== undefined) return wrong;
  const hasPaths = service === "blob" || service === "file";
  if (path !== undefined && !hasPaths) {
    return { problem: `path is for blobs and files, a ${service} has none` };
  }
  if ((snapshot ?? versionId) !== undefined && (service !== "blob" || path === undefined)) {
    const which = snapshot === undefined ? "versionId" : "snapshot";
    return { problem: `${which} is for one blob: service must be blob, with a path` };
  }
  const resource = { service, container, path, snapshot, versionId };
  return { ...common, kind: "service", ...resource, permissions };
}
