import { parseIso } from "../../core/dates.ts";
import type { ServiceName } from "../../core/operation.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { JsonObject } from "../request.ts";

/** What somebody wants a signature for, checked. */
export type SasWish = CommonWish & (AccountWish | ServiceWish);

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
const textUnitsMax = 2048;
const allPermissions = "rwdxylacuptfi";

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
const known = new Set([...Object.keys(fieldNames), ...otherNames]);
/** A line break could pass for the end of a field in the signed text. */
const control = /\p{Cc}/u;

export function readSasWish(input: JsonObject): SasWish | Mistake {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(input)) {
    if (!known.has(name)) return { problem: `there is no field "${name}"` };
    if (name === "minutes" || value === undefined || value === null) continue;
    if (typeof value !== "string") return { problem: `${name} must be text` };
    const isFit = value.length <= textUnitsMax && !control.test(value);
    if (!isFit) return { problem: `${name} is too long or has control characters` };
    if (value !== "") texts[name] = value;
  }
  const given = input["minutes"] ?? undefined;
  if (given !== undefined && !isMinutes(given)) {
    return { problem: `minutes must be above 0 and up to ${minutesMax}` };
  }
  const minutes = given ?? (texts["identifier"] === undefined ? minutesStandard : undefined);
  const startsAt = texts["startsAt"] === undefined ? undefined : parseIso(texts["startsAt"]);
  if (texts["startsAt"] !== undefined && startsAt === undefined) {
    return { problem: "startsAt must be a moment such as 2026-01-01T00:00:00Z" };
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

function accountWish(texts: Readonly<Record<string, string>>, common: Common): SasWish | Mistake {
  const { kind, services = "bqtf", resourceTypes = "sco", permissions = allPermissions } = texts;
  if (kind !== undefined && kind !== "account") {
    return { problem: 'kind must be "account" or "service"' };
  }
  if (!/^[bqtf]+$/.test(services)) return { problem: "services are letters of bqtf" };
  if (!/^[sco]+$/.test(resourceTypes)) return { problem: "resourceTypes are letters of sco" };
  if (!/^[a-z]+$/.test(permissions)) return { problem: "permissions are letters" };
  return { ...common, kind: "account", services, resourceTypes, permissions };
}

const services: Readonly<Record<string, ServiceName>> = {
  blob: "blob",
  queue: "queue",
  table: "table",
  file: "file",
};

function serviceWish(texts: Readonly<Record<string, string>>, common: Common): SasWish | Mistake {
  const service = services[texts["service"] ?? ""];
  if (service === undefined) return { problem: "service must be blob, queue, table or file" };
  const { container, path, snapshot, versionId, permissions = "" } = texts;
  if (container === undefined) return { problem: "container is missing" };
  const hasPolicy = common.fields["si"] !== undefined;
  if (!hasPolicy && !/^[a-z]+$/.test(permissions)) return { problem: "permissions are letters" };
  const hasPaths = service === "blob" || service === "file";
  if (path !== undefined && !hasPaths) return { problem: `there is no path in a ${service}` };
  if ((snapshot ?? versionId) !== undefined && (service !== "blob" || path === undefined)) {
    return { problem: "only a blob has snapshots and versions of its own" };
  }
  const resource = { service, container, path, snapshot, versionId };
  return { ...common, kind: "service", ...resource, permissions };
}
