import { isKnownVersion, isLaterVersion, type Version } from "../protocol/versions.ts";
import { noETag, type Operation } from "../operation/operation.ts";
import { timeout } from "../operation/common-params.ts";
import type { ServiceName } from "../protocol/names.ts";
import { isHeaderText, type Params } from "../protocol/params.ts";
import { xmlBody } from "../encoding/xml-body.ts";
import { serviceOperation } from "./service-resource.ts";
import type { CorsRule } from "../protocol/cors.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { invalidXmlAt, xmlChild, xmlChildText, type XmlElement } from "../encoding/xml.ts";
import {
  defaultHourMetrics,
  defaultLogging,
  defaultMinuteMetrics,
  type DeleteRetention,
  type Logging,
  type Metrics,
  type ProtocolSetting,
  type Retention,
  type ServiceProperties,
  type StaticWebsite,
} from "./service-properties.ts";
import { element, textElement } from "../encoding/xml-writer.ts";
import { formatHttpDate } from "../base/dates.ts";
import { invalidQuery, invalidXmlNode, missingXmlNode } from "../protocol/faults.ts";

/** Get and Set Service Properties and Get Service Stats, which all four services have (logging,
 *  metrics, CORS and some settings of their own). Each service adds the result of
 *  `declareServiceProperties` to its operations. All properties are stored and returned; only CORS
 *  rules, the static website and the retention of deleted blobs have effects. */

// Limits of this server for ProtocolSettings: number of settings, and depth of the element tree.
// Azure's documented settings need far less.
const settingsMax = 32;
const depthMax = 4;
/** The element names that Azure documents in ProtocolSettings, at any level. */
const known: ReadonlySet<string> = new Set([
  "SMB",
  "NFS",
  "Multichannel",
  "EncryptionInTransit",
  "Enabled",
  "Required",
  "Versions",
  "AuthenticationMethods",
  "KerberosTicketEncryption",
  "ChannelEncryption",
]);

/** Parses the ProtocolSettings of the file service. Returns the leaves of the element tree with
 *  their paths: `SMB/Multichannel/Enabled` is `true`. */
function parseProtocol(root: XmlElement): Result<readonly ProtocolSetting[]> {
  const found: ProtocolSetting[] = [];
  const fits = collect(root, [], found);
  return fits ? ok(found) : fail("UnsupportedXmlNode");
}

function collect(parent: XmlElement, path: readonly string[], found: ProtocolSetting[]): boolean {
  if (path.length > depthMax) return false;
  for (const child of parent.children) {
    if (!known.has(child.name) || found.length >= settingsMax) return false;
    const at = [...path, child.name];
    if (child.children.length === 0) found.push({ path: at.join("/"), value: child.text.trim() });
    else if (!collect(child, at, found)) return false;
  }
  return true;
}

/** Renders ProtocolSettings (`parseProtocol`) as XML; calls itself for those below each element. */
function renderProtocol(settings: readonly ProtocolSetting[]): string {
  const groups = new Map<string, ProtocolSetting[]>();
  for (const { path, value } of settings) {
    const [first = "", ...rest] = path.split("/");
    const group = groups.get(first) ?? [];
    group.push({ path: rest.join("/"), value });
    groups.set(first, group);
  }
  let inner = "";
  for (const [name, group] of groups) {
    const [only] = group;
    inner +=
      only?.path === "" ? textElement(name, only.value) : element(name, renderProtocol(group));
  }
  return inner;
}

/** What differs between services in the operations on properties and statistics. */
interface ServiceDeclaration {
  /** The service as it is written in the names of operations, for example `Blob`. */
  readonly title: string;
  /** The first x-ms-version that has these operations. */
  readonly since: Version;
  readonly params?: Params;
  /** The queue service sends `Cache-Control: no-cache`; the other services do not. */
  readonly noCache?: true;
  readonly hasStats: boolean;
}

const declarations: Readonly<Record<ServiceName, ServiceDeclaration>> = {
  blob: { title: "Blob", since: "2009-09-19", hasStats: true },
  queue: { title: "Queue", since: "2009-09-19", noCache: true, hasStats: true },
  table: { title: "Table", since: "2009-09-19", params: { timeout }, hasStats: true },
  file: { title: "File", since: "2015-02-21", hasStats: false },
};

/** Declares the operations of a service on its properties, and on its statistics if it has any. */
export function declareServiceProperties(service: ServiceName): readonly Operation[] {
  const declaration = declarations[service];
  const operations = [declareGet(service, declaration), declareSet(service, declaration)];
  return declaration.hasStats ? [...operations, declareStats(declaration)] : operations;
}

/** Declared by all three operations of this file. */
const common = {
  target: "must-exist",
  ...noETag,
} as const;
const readPermission = { letters: "r", resourceType: "s", sas: "account-only" } as const;

const query = { restype: "service", comp: "properties" };

/** Declares Get Service Properties of a service.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-service-properties */
function declareGet(service: ServiceName, declaration: ServiceDeclaration): Operation {
  const { title, since, params = {}, noCache } = declaration;
  return serviceOperation({
    ...common,
    name: `Get ${title} Service Properties`,
    ids: ["Service_GetProperties"],
    route: { method: "GET", resource: "service", query },
    since,
    params,
    permission: readPermission,
    decide: ({ target }) => ({
      headers: { "Cache-Control": noCache && "no-cache" },
      body: xmlBody(renderServiceProperties(service, target.properties[service] ?? {})),
    }),
  });
}

/** Declares Set Service Properties of a service: elements that the body omits stay unchanged.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-service-properties */
function declareSet(
  service: ServiceName,
  { title, since, params = {} }: ServiceDeclaration,
): Operation {
  const parse = parseServiceProperties(service);
  return serviceOperation({
    ...common,
    name: `Set ${title} Service Properties`,
    ids: ["Service_SetProperties"],
    route: { method: "PUT", resource: "service", query },
    since,
    params,
    body: { kind: "xml", bytesMax: servicePropertiesBytesMax, parse },
    permission: { letters: "w", resourceType: "s", sas: "account-only" },
    status: 202,
    decide: ({ target, input }) => {
      const changed = { ...target.properties[service], ...input.body };
      return { put: { ...target, properties: { ...target.properties, [service]: changed } } };
    },
  });
}

/** Azure's limit of CORS rules per service. */
const corsRulesMax = 5;
/** Azure's limit of a retention policy, in days. */
const retentionDaysMax = 365;
const servicePropertiesBytesMax = 64 * 1024;
const corsMethods = new Set(["DELETE", "GET", "HEAD", "MERGE", "POST", "PATCH", "OPTIONS", "PUT"]);
// Azure's limits per CORS rule: length of a text in UTF-16 code units, number of header names,
// number of prefixes (`x-ms-meta-*`).
const corsTextUnitsMax = 256;
const corsHeadersMax = 64;
const corsHeaderPrefixesMax = 2;

/** The service properties that one element of the body sets. */
type PropertiesPart = Partial<ServiceProperties>;
type PartParser = (child: XmlElement) => Result<PropertiesPart>;

const commonParts: Readonly<Record<string, PartParser>> = {
  Logging: (child) => map(parseLogging(child), (logging) => ({ logging })),
  HourMetrics: (child) => map(parseMetrics(child), (hourMetrics) => ({ hourMetrics })),
  MinuteMetrics: (child) => map(parseMetrics(child), (minuteMetrics) => ({ minuteMetrics })),
  Cors: (child) => map(parseCors(child), (cors) => ({ cors })),
};

const blobParts: Readonly<Record<string, PartParser>> = {
  DefaultServiceVersion: (child) =>
    isKnownVersion(child.text) || isLaterVersion(child.text)
      ? ok({ defaultServiceVersion: child.text })
      : invalidXmlNode(child.name, child.text),
  DeleteRetentionPolicy: (child) =>
    map(parseDeleteRetention(child), (deleteRetention) => ({ deleteRetention })),
  StaticWebsite: (child) => map(parseStaticWebsite(child), (staticWebsite) => ({ staticWebsite })),
};

const fileParts: Readonly<Record<string, PartParser>> = {
  ProtocolSettings: (child) => map(parseProtocol(child), (protocol) => ({ protocol })),
};

/** The elements of service properties that only one service has. */
const partsOfService: Readonly<Partial<Record<ServiceName, Readonly<Record<string, PartParser>>>>> =
  {
    blob: blobParts,
    file: fileParts,
  };

/** Returns the parser of the body of Set Service Properties. The result contains only the
 *  properties that the body sets. */
function parseServiceProperties(service: ServiceName) {
  const parts = { ...commonParts, ...partsOfService[service] };
  return (root: XmlElement | undefined): Result<PropertiesPart> => {
    if (root === undefined || root.name !== "StorageServiceProperties") {
      return root === undefined ? fail("InvalidXmlDocument") : invalidXmlAt(root.start, "");
    }
    let parsed: PropertiesPart = {};
    for (const child of root.children) {
      const part = parts[child.name]?.(child) ?? fail("UnsupportedXmlNode");
      if (!part.ok) return part;
      parsed = { ...parsed, ...part.value };
    }
    return ok(parsed);
  };
}

function map<T, U>(result: Result<T>, make: (value: T) => U): Result<U> {
  return result.ok ? ok(make(result.value)) : result;
}

function parseBoolean(parent: XmlElement, name: string): Result<boolean> {
  const child = xmlChild(parent, name);
  if (child === undefined) return missingXmlNode(name);
  const text = child.text.trim().toLowerCase();
  const isValid = text === "true" || text === "false";
  return isValid ? ok(text === "true") : invalidXmlNode(child.name, child.text);
}

function parseRetention(parent: XmlElement): Result<Retention> {
  if (parent.children.length === 0) return invalidXmlAt(parent.start, "");
  const enabled = parseBoolean(parent, "Enabled");
  if (!enabled.ok) return enabled;
  const child = xmlChild(parent, "Days");
  if (child === undefined) {
    return enabled.value ? invalidXmlAt(parent.start, daysReason) : ok({ enabled: false });
  }
  const days = /^\d{1,9}$/.test(child.text.trim()) ? Number(child.text) : 0;
  if (days < 1 || days > retentionDaysMax) return invalidXmlAt(child.start, daysReason);
  return ok({ enabled: enabled.value, days });
}

const daysReason = "Retention days must be greater than 0 and less than or equal to 365 days.";

function parseRetentionPolicy(parent: XmlElement): Result<Retention> {
  const child = xmlChild(parent, "RetentionPolicy");
  return child === undefined ? ok({ enabled: false }) : parseRetention(child);
}

function parseLogging(child: XmlElement): Result<Logging> {
  const read = parseBoolean(child, "Read");
  const write = parseBoolean(child, "Write");
  const remove = parseBoolean(child, "Delete");
  const retention = parseRetentionPolicy(child);
  if (!read.ok) return read;
  if (!write.ok) return write;
  if (!remove.ok) return remove;
  if (!retention.ok) return retention;
  const version = xmlChildText(child, "Version") ?? "1.0";
  const [reads, writes, deletes] = [read.value, write.value, remove.value];
  return ok({ version, read: reads, write: writes, delete: deletes, retention: retention.value });
}

function parseMetrics(child: XmlElement): Result<Metrics> {
  const enabled = parseBoolean(child, "Enabled");
  if (!enabled.ok) return enabled;
  const retention = parseRetentionPolicy(child);
  if (!retention.ok) return retention;
  const version = xmlChildText(child, "Version") ?? "1.0";
  const base = { version, enabled: enabled.value, retention: retention.value };
  if (xmlChild(child, "IncludeAPIs") === undefined) {
    return enabled.value ? invalidXmlAt(child.start, "") : ok(base);
  }
  const includeApis = parseBoolean(child, "IncludeAPIs");
  return includeApis.ok ? ok({ ...base, includeApis: includeApis.value }) : includeApis;
}

function parseCors(child: XmlElement): Result<readonly CorsRule[]> {
  if (child.children.length > corsRulesMax) return invalidXmlAt({ line: 0, position: 0 }, "");
  const rules: CorsRule[] = [];
  for (const each of child.children) {
    const rule = parseCorsRule(each);
    if (!rule.ok) return rule;
    rules.push(rule.value);
  }
  return ok(rules);
}

function parseCorsRule(rule: XmlElement): Result<CorsRule> {
  const allowedOrigins = words(rule, "AllowedOrigins");
  const allowedMethods = words(rule, "AllowedMethods");
  const allowedHeaders = words(rule, "AllowedHeaders");
  const exposedHeaders = words(rule, "ExposedHeaders");
  const age = xmlChildText(rule, "MaxAgeInSeconds")?.trim() ?? "";
  const fits =
    allowedOrigins.length > 0 &&
    allowedMethods.length > 0 &&
    allowedMethods.every((method) => corsMethods.has(method)) &&
    headersFit(allowedHeaders) &&
    headersFit(exposedHeaders) &&
    allowedOrigins.every((origin) => origin.length <= corsTextUnitsMax) &&
    /^\d{1,10}$/.test(age);
  if (rule.name !== "CorsRule" || !fits) return invalidXmlAt(rule.start, "");
  const maxAgeSeconds = Number(age);
  return ok({ allowedOrigins, allowedMethods, allowedHeaders, exposedHeaders, maxAgeSeconds });
}

function words(rule: XmlElement, name: string): readonly string[] {
  const text = xmlChildText(rule, name) ?? "";
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function headersFit(headers: readonly string[]): boolean {
  const prefixes = headers.filter((header) => header.endsWith("*") && header !== "*");
  return (
    prefixes.length <= corsHeaderPrefixesMax &&
    headers.length - prefixes.length <= corsHeadersMax &&
    headers.every((header) => header.length <= corsTextUnitsMax && isHeaderText(header))
  );
}

function parseDeleteRetention(child: XmlElement): Result<DeleteRetention> {
  const retention = parseRetention(child);
  if (!retention.ok || xmlChild(child, "AllowPermanentDelete") === undefined) return retention;
  const allowed = parseBoolean(child, "AllowPermanentDelete");
  return allowed.ok ? ok({ ...retention.value, allowPermanentDelete: allowed.value }) : allowed;
}

function parseStaticWebsite(child: XmlElement): Result<StaticWebsite> {
  return map(parseBoolean(child, "Enabled"), (enabled) => ({
    enabled,
    indexDocument: xmlChildText(child, "IndexDocument"),
    errorDocument404Path: xmlChildText(child, "ErrorDocument404Path"),
    defaultIndexDocumentPath: xmlChildText(child, "DefaultIndexDocumentPath"),
  }));
}

/** Renders the properties of a service in the element order of Azure. Properties that were never
 *  set have their defaults; each service has only some of the elements. */
function renderServiceProperties(service: ServiceName, properties: ServiceProperties): string {
  const logging = service === "file" ? "" : renderLogging(properties.logging ?? defaultLogging);
  const hour = renderMetrics("HourMetrics", properties.hourMetrics ?? defaultHourMetrics);
  const minute = renderMetrics("MinuteMetrics", properties.minuteMetrics ?? defaultMinuteMetrics);
  const inner = logging + hour + minute + renderCors(properties.cors ?? []);
  const { deleteRetention, staticWebsite, defaultServiceVersion, protocol } = properties;
  const ofBlob =
    renderDeleteRetention(deleteRetention ?? { enabled: false }) +
    renderStaticWebsite(staticWebsite ?? { enabled: false }) +
    textElement("DefaultServiceVersion", defaultServiceVersion);
  const settings = renderProtocol(protocol ?? []);
  const ofFile = settings === "" ? "" : element("ProtocolSettings", settings);
  return element("StorageServiceProperties", inner + (service === "blob" ? ofBlob : ofFile));
}

function renderRetention({ enabled, days }: Retention): string {
  const inner =
    textElement("Enabled", String(enabled)) + textElement("Days", enabled ? days : undefined);
  return element("RetentionPolicy", inner);
}

function renderLogging(logging: Logging): string {
  return element(
    "Logging",
    textElement("Version", logging.version) +
      textElement("Read", String(logging.read)) +
      textElement("Write", String(logging.write)) +
      textElement("Delete", String(logging.delete)) +
      renderRetention(logging.retention),
  );
}

function renderMetrics(name: string, metrics: Metrics): string {
  const { version, enabled, includeApis, retention } = metrics;
  const apis = enabled && includeApis !== undefined ? String(includeApis) : undefined;
  return element(
    name,
    textElement("Version", version) +
      textElement("Enabled", String(enabled)) +
      textElement("IncludeAPIs", apis) +
      renderRetention(retention),
  );
}

function renderCors(rules: readonly CorsRule[]): string {
  let inner = "";
  for (const rule of rules) {
    inner += element(
      "CorsRule",
      textElement("AllowedMethods", rule.allowedMethods.join(",")) +
        textElement("AllowedOrigins", rule.allowedOrigins.join(",")) +
        textElement("AllowedHeaders", rule.allowedHeaders.join(",")) +
        textElement("ExposedHeaders", rule.exposedHeaders.join(",")) +
        textElement("MaxAgeInSeconds", rule.maxAgeSeconds),
    );
  }
  return element("Cors", inner);
}

function renderDeleteRetention(policy: DeleteRetention): string {
  const { enabled, days, allowPermanentDelete } = policy;
  return element(
    "DeleteRetentionPolicy",
    textElement("Enabled", String(enabled)) +
      textElement("Days", enabled ? days : undefined) +
      textElement("AllowPermanentDelete", String(allowPermanentDelete ?? false)),
  );
}

function renderStaticWebsite(website: StaticWebsite): string {
  const { enabled, indexDocument, errorDocument404Path, defaultIndexDocumentPath } = website;
  return element(
    "StaticWebsite",
    textElement("Enabled", String(enabled)) +
      textElement("IndexDocument", enabled ? indexDocument : undefined) +
      textElement("ErrorDocument404Path", enabled ? errorDocument404Path : undefined) +
      textElement("DefaultIndexDocumentPath", enabled ? defaultIndexDocumentPath : undefined),
  );
}

/** Declares Get Service Stats of a service. Only the secondary endpoint has it, here with the
 *  current time as last synchronisation: both endpoints show the same data.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-service-stats */
function declareStats(declaration: ServiceDeclaration): Operation {
  const { title, params = {}, noCache } = declaration;
  return serviceOperation({
    ...common,
    name: `Get ${title} Service Stats`,
    ids: ["Service_GetStatistics"],
    route: { method: "GET", resource: "service", query: { restype: "service", comp: "stats" } },
    since: "2013-08-15",
    params,
    permission: readPermission,
    decide: ({ secondary, now }) => {
      if (!secondary) return invalidQuery("comp", "stats");
      const synced = textElement("LastSyncTime", formatHttpDate(now));
      const state = element("GeoReplication", textElement("Status", "live") + synced);
      const headers = { "Cache-Control": noCache && "no-cache" };
      return { headers, body: xmlBody(element("StorageServiceStats", state)) };
    },
  });
}
