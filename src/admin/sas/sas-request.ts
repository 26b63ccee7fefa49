import { parseIso } from "../../base/dates.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { Ticks } from "../../base/ticks.ts";
import { isMissing, oneOf, asGiven, aText } from "../inputs.ts";
import type { JsonObject } from "../request.ts";

/** What somebody wants a signature for, checked. */
export type SasRequest = CommonWish & (AccountWish | ServiceWish);

export interface CommonWish {
  readonly account: string;
  /** Undefined if a stored policy says it. */
  readonly minutes: number | undefined;
  readonly startsAt: Ticks | undefined;
  readonly permissions: string;
  /** By the names that they have in the query. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface AccountWish {
  readonly kind: "account";
  readonly services: string;
  readonly resourceTypes: string;
}

export interface ServiceWish {
  readonly kind: "service";
  readonly service: ServiceName;
  readonly container: string;
  readonly path: string | undefined;
  readonly snapshot: string | undefined;
  readonly versionId: string | undefined;
}

export interface Mistake {
  readonly problem: string;
}

const minutesStandard = 60;
const minutesMax = 5_256_000;
const allPermissions = "rwdxylacuptfi";
/** Those of folders besides, which signatures of others may have. */
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
const knownList = `it takes ${[...known].join(", ")}`;
/** A line break could pass for the end of a field in the signed text. */
const control = /\p{Cc}/u;

export function readSasWish(input: JsonObject): SasRequest | Mistake {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(input)) {
    if (!known.has(name)) return { problem: `${asGiven(name)} is not known here: ${knownList}` };
    if (name === "minutes" || isMissing(value)) continue;
    const wrong = aText(value);
    if (wrong !== undefined || typeof value !== "string") return { problem: `${name} ${wrong}` };
    if (control.test(value)) return { problem: `${name} has control characters in it` };
    texts[name] = value;
  }
  const given = input["minutes"] ?? undefined;
  if (given !== undefined && !isMinutes(given)) {
    const bounds = `a number above 0, up to ${minutesMax}`;
    return { problem: `minutes must be ${bounds}, not ${asGiven(given)}` };
  }
  const minutes = given ?? (texts["identifier"] === undefined ? minutesStandard : undefined);
  const startsAt = texts["startsAt"] === undefined ? undefined : parseIso(texts["startsAt"]);
  if (texts["startsAt"] !== undefined && startsAt === undefined) {
    const form = "a moment such as 2026-01-01T00:00:00Z";
    return { problem: `startsAt must be ${form}, not ${asGiven(texts["startsAt"])}` };
  }
  if (texts["account"] === undefined) return { problem: "account is missing" };
  const common = { account: texts["account"], minutes, startsAt, fields: fieldsOf(texts) };
  return texts["kind"] === "service" ? serviceWish(texts, common) : accountWish(texts, common);
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

type Common = Omit<CommonWish, "permissions">;

function accountWish(
  texts: Readonly<Record<string, string>>,
  common: Common,
): SasRequest | Mistake {
  const { kind, services = "bqtf", resourceTypes = "sco", permissions = allPermissions } = texts;
  if (kind !== undefined && kind !== "account") {
    return { problem: `kind must be account or service, not ${asGiven(kind)}` };
  }
  const wrong =
    lettersIn({ services }, "bqtf") ??
    lettersIn({ resourceTypes }, "sco") ??
    lettersIn({ permissions }, permissionLetters);
  if (wrong !== undefined) return wrong;
  return { ...common, kind: "account", services, resourceTypes, permissions };
}

const serviceCheck = oneOf(["blob", "queue", "table", "file"]);

function lettersIn(given: Readonly<Record<string, string>>, letters: string): Mistake | undefined {
  const wrong = Object.entries(given).find(
    ([, value]) => !new RegExp(`^[${letters}]*$`).test(value),
  );
  if (wrong === undefined) return undefined;
  return { problem: `${wrong[0]} must be letters of ${letters}, not ${asGiven(wrong[1])}` };
}

function serviceWish(
  texts: Readonly<Record<string, string>>,
  common: Common,
): SasRequest | Mistake {
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
    return { problem: `path is for blobs and files: there is none in a ${service}` };
  }
  if ((snapshot ?? versionId) !== undefined && (service !== "blob" || path === undefined)) {
    const which = snapshot === undefined ? "versionId" : "snapshot";
    return { problem: `${which} is for one blob: service must be blob, with a path` };
  }
  const resource = { service, container, path, snapshot, versionId };
  return { ...common, kind: "service", ...resource, permissions };
}
