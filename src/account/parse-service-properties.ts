import type { CorsRule } from "../protocol/cors.ts";
import { isHeaderText } from "../protocol/header-text.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { invalidXmlAt, xmlChild, xmlChildText, type XmlElement } from "../encoding/xml.ts";
import { isLaterVersion, isKnownVersion } from "../protocol/versions.ts";
import { parseProtocol } from "./protocol-settings.ts";
import type {
  DeleteRetention,
  Logging,
  Metrics,
  Retention,
  ServiceProperties,
  StaticWebsite,
} from "./service-properties.ts";

/** Limit of the service. */
export const corsRulesMax = 5;
/** Limit of the service for retention policies. */
export const retentionDaysMax = 365;
export const servicePropertiesBytesMax = 64 * 1024;
const corsMethods = new Set(["DELETE", "GET", "HEAD", "MERGE", "POST", "PATCH", "OPTIONS", "PUT"]);
// Limits of the service per CORS rule: text length in UTF-16 code units, number of header names,
// number of prefixes such as `x-ms-meta-*`.
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
      : invalidNode(child),
  DeleteRetentionPolicy: (child) =>
    map(parseDeleteRetention(child), (deleteRetention) => ({ deleteRetention })),
  StaticWebsite: (child) => map(parseStaticWebsite(child), (staticWebsite) => ({ staticWebsite })),
};

const fileParts: Readonly<Record<string, PartParser>> = {
  ProtocolSettings: (child) => map(parseProtocol(child), (protocol) => ({ protocol })),
};

/** The elements that only one service has. */
const partsOfService: Readonly<Partial<Record<ServiceName, Readonly<Record<string, PartParser>>>>> =
  {
    blob: blobParts,
    file: fileParts,
  };

/** Returns the parser of the body of Set Service Properties. The result contains only the
 *  properties that the body sets. */
export function parseServiceProperties(service: ServiceName) {
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

function invalidNode(node: XmlElement): Result<never> {
  return fail("InvalidXmlNodeValue", {
    elements: { XmlNodeName: node.name, XmlNodeValue: node.text },
  });
}

function parseBoolean(parent: XmlElement, name: string): Result<boolean> {
  const child = xmlChild(parent, name);
  if (child === undefined)
    return fail("MissingRequiredXmlNode", { elements: { XmlNodeName: name } });
  const text = child.text.trim().toLowerCase();
  return text === "true" || text === "false" ? ok(text === "true") : invalidNode(child);
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
  const enabled = parseBoolean(child, "Enabled");
  if (!enabled.ok) return enabled;
  const indexDocument = xmlChildText(child, "IndexDocument");
  const errorDocument404Path = xmlChildText(child, "ErrorDocument404Path");
  const defaultIndexDocumentPath = xmlChildText(child, "DefaultIndexDocumentPath");
  return ok({
    enabled: enabled.value,
    ...(indexDocument === undefined ? {} : { indexDocument }),
    ...(errorDocument404Path === undefined ? {} : { errorDocument404Path }),
    ...(defaultIndexDocumentPath === undefined ? {} : { defaultIndexDocumentPath }),
  });
}
