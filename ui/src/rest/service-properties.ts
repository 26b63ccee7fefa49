import type { ServiceName } from "../admin/server.ts";
import { mapped, type Result } from "../result.ts";
import { bodyText, request } from "./request.ts";
import { childOf, childrenOf, escapeXml, numberOf, parseXml, textOf } from "./xml.ts";

export interface CorsRule {
  readonly origins: string;
  readonly methods: string;
  readonly headers: string;
  readonly exposed: string;
  readonly maxAgeSeconds: string;
}

/** The properties of a service that the explorer changes; the last two only of blobs. */
export interface ServiceProperties {
  readonly cors: readonly CorsRule[];
  /** Undefined if soft delete is off or the service has none. */
  readonly retentionDays: number | undefined;
  readonly allowsPermanentDelete: boolean;
  readonly website: Website | undefined;
}

export interface Website {
  readonly indexDocument: string;
  readonly errorDocument: string;
  /** One page for all paths, instead of an index document per folder. */
  readonly defaultIndexPath: string;
}

const query = { restype: "service", comp: "properties" };

export async function getServiceProperties(
  account: string,
  service: ServiceName,
  signal?: AbortSignal,
): Promise<Result<ServiceProperties>> {
  const answer = await request(service, [account], { query, signal });
  return mapped(answer, (value) => readProperties(parseXml(bodyText(value))));
}

/** Elements that are absent keep their values. */
export function setServiceProperties(
  account: string,
  service: ServiceName,
  properties: ServiceProperties,
): Promise<Result<unknown>> {
  const inner = renderProperties(service, properties);
  const body = `<StorageServiceProperties>${inner}</StorageServiceProperties>`;
  return request(service, [account], { method: "PUT", query, body });
}

function readProperties(root: Element): ServiceProperties {
  const retention = childOf(root, "DeleteRetentionPolicy");
  const website = childOf(root, "StaticWebsite");
  const isOn = (element: Element | undefined): boolean => textOf(element, "Enabled") === "true";
  return {
    cors: childrenOf(childOf(root, "Cors"), "CorsRule").map((rule) => ({
      origins: textOf(rule, "AllowedOrigins") ?? "",
      methods: textOf(rule, "AllowedMethods") ?? "",
      headers: textOf(rule, "AllowedHeaders") ?? "",
      exposed: textOf(rule, "ExposedHeaders") ?? "",
      maxAgeSeconds: textOf(rule, "MaxAgeInSeconds") ?? "0",
    })),
    retentionDays: isOn(retention) ? numberOf(retention, "Days") : undefined,
    allowsPermanentDelete: textOf(retention, "AllowPermanentDelete") === "true",
    website: isOn(website)
      ? {
          indexDocument: textOf(website, "IndexDocument") ?? "",
          errorDocument: textOf(website, "ErrorDocument404Path") ?? "",
          defaultIndexPath: textOf(website, "DefaultIndexDocumentPath") ?? "",
        }
      : undefined,
  };
}

const tag = (name: string, text: string): string => `<${name}>${escapeXml(text)}</${name}>`;

function renderProperties(
  service: ServiceName,
  { cors, retentionDays, allowsPermanentDelete, website }: ServiceProperties,
): string {
  const rules = cors.map(
    (rule) =>
      `<CorsRule>${tag("AllowedOrigins", rule.origins)}${tag("AllowedMethods", rule.methods)}` +
      tag("MaxAgeInSeconds", rule.maxAgeSeconds) +
      `${tag("ExposedHeaders", rule.exposed)}${tag("AllowedHeaders", rule.headers)}</CorsRule>`,
  );
  const shared = `<Cors>${rules.join("")}</Cors>`;
  if (service !== "blob") return shared;
  const days = retentionDays === undefined ? "" : tag("Days", String(retentionDays));
  const permanent = tag("AllowPermanentDelete", String(allowsPermanentDelete));
  const retention = tag("Enabled", String(retentionDays !== undefined)) + days + permanent;
  return (
    `${shared}<DeleteRetentionPolicy>${retention}</DeleteRetentionPolicy>` +
    `<StaticWebsite>${renderWebsite(website)}</StaticWebsite>`
  );
}

function renderWebsite(website: Website | undefined): string {
  if (website === undefined) return tag("Enabled", "false");
  const { indexDocument, errorDocument, defaultIndexPath } = website;
  const path = defaultIndexPath === "" ? "" : tag("DefaultIndexDocumentPath", defaultIndexPath);
  const index = indexDocument === "" ? "" : tag("IndexDocument", indexDocument);
  const error = errorDocument === "" ? "" : tag("ErrorDocument404Path", errorDocument);
  return tag("Enabled", "true") + index + path + error;
}
