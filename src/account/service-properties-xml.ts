import type { ServiceName } from "../protocol/service-name.ts";
import { element, textElement } from "../encoding/xml-writer.ts";
import type { CorsRule } from "../protocol/cors.ts";
import { renderProtocol } from "./protocol-settings.ts";
import {
  defaultHourMetrics,
  defaultLogging,
  defaultMinuteMetrics,
  type DeleteRetention,
  type Logging,
  type Metrics,
  type Retention,
  type ServiceProperties,
  type StaticWebsite,
} from "./service-properties.ts";

/** Renders the properties of a service in the element order of Azure. Properties that were never
 *  set have their defaults; each service has only some of the elements. */
export function renderServiceProperties(
  service: ServiceName,
  properties: ServiceProperties,
): string {
  const logging = service === "file" ? "" : renderLogging(properties.logging ?? defaultLogging);
  const hour = renderMetrics("HourMetrics", properties.hourMetrics ?? defaultHourMetrics);
  const minute = renderMetrics("MinuteMetrics", properties.minuteMetrics ?? defaultMinuteMetrics);
  const inner = logging + hour + minute + renderCors(properties.cors ?? []);
  const serviceSpecific =
    service === "blob"
      ? renderDeleteRetention(properties.deleteRetention ?? { enabled: false }) +
        renderStaticWebsite(properties.staticWebsite ?? { enabled: false }) +
        textElement("DefaultServiceVersion", properties.defaultServiceVersion)
      : renderProtocol(properties.protocol);
  return element("StorageServiceProperties", inner + serviceSpecific);
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
