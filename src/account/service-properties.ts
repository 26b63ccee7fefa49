import type { CorsRule } from "../protocol/cors.ts";

/** What Set Service Properties stores for each of the four services, and the defaults. */

/** Stored properties of a service; undefined: never set, the default applies. */
export interface ServiceProperties {
  readonly logging?: Logging;
  readonly hourMetrics?: Metrics;
  readonly minuteMetrics?: Metrics;
  readonly cors?: readonly CorsRule[];
  readonly defaultServiceVersion?: string;
  readonly deleteRetention?: DeleteRetention;
  readonly staticWebsite?: StaticWebsite;
  /** File service: the SMB settings, stored as paths of element names and texts. */
  readonly protocol?: readonly ProtocolSetting[];
}

export interface Retention {
  readonly enabled: boolean;
  readonly days?: number;
}

export interface DeleteRetention extends Retention {
  readonly allowPermanentDelete?: boolean;
}

export interface Logging {
  readonly version: string;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  readonly retention: Retention;
}

export interface Metrics {
  readonly version: string;
  readonly enabled: boolean;
  readonly includeApis?: boolean;
  readonly retention: Retention;
}

export interface StaticWebsite {
  readonly enabled: boolean;
  readonly indexDocument?: string | undefined;
  readonly errorDocument404Path?: string | undefined;
  readonly defaultIndexDocumentPath?: string | undefined;
}

export interface ProtocolSetting {
  readonly path: string;
  readonly value: string;
}

const noRetention: Retention = { enabled: false };
export const defaultLogging: Logging = {
  version: "1.0",
  read: false,
  write: false,
  delete: false,
  retention: noRetention,
};
export const defaultHourMetrics: Metrics = {
  version: "1.0",
  enabled: true,
  includeApis: true,
  retention: { enabled: true, days: 7 },
};
export const defaultMinuteMetrics: Metrics = {
  version: "1.0",
  enabled: false,
  retention: noRetention,
};
