/** Kinds of flags whose value is a number. `workers` is a number or `auto`. */
type NumberKind = "port" | "seconds" | "megabytes" | "count";

/** What a flag's value is: how the command line and `start()` parse and check it, and how a shell
 *  completes it. */
export type FlagKind =
  | NumberKind
  | "workers"
  | "switch"
  | "text"
  | "file"
  | "folder"
  | "host"
  | "url"
  | "choice";

export interface Flag {
  readonly kind: FlagKind;
  readonly short?: string;
  /** Placeholder for the value in the help text; a switch has none. */
  readonly value?: string;
  /** The values of a `choice`. */
  readonly choices?: readonly string[];
  readonly help: string;
}

const loopback = "127.0.0.1";

/** Up to `disableTelemetry` the names and letters are Azurite's; the rest are Etagere's own. */
export const flags = {
  blobHost: { kind: "host", value: "HOST", help: "address of the blob service" },
  blobPort: { kind: "port", value: "PORT", help: "port of the blob service; 0: any free port" },
  blobKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "idle time of connections" },
  queueHost: { kind: "host", value: "HOST", help: "address of the queue service" },
  queuePort: { kind: "port", value: "PORT", help: "port of the queue service" },
  queueKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "idle time of connections" },
  tableHost: { kind: "host", value: "HOST", help: "address of the table service" },
  tablePort: { kind: "port", value: "PORT", help: "port of the table service" },
  tableKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "idle time of connections" },
  location: { kind: "folder", short: "l", value: "FOLDER", help: "data folder" },
  silent: { kind: "switch", short: "s", help: "no access log; log errors only" },
  debug: { kind: "file", short: "d", value: "FILE", help: "write a detailed log to this file" },
  loose: { kind: "switch", short: "L", help: "no effect: unknown headers are always ignored" },
  cert: { kind: "file", value: "FILE", help: "serve HTTPS with this certificate (pem or pfx)" },
  key: { kind: "file", value: "FILE", help: "private key of a pem certificate" },
  pwd: { kind: "text", value: "PASSWORD", help: "password of a pfx certificate" },
  oauth: {
    kind: "choice",
    value: "MODE",
    choices: ["basic", "verify"],
    help: "accept bearer tokens over HTTPS: basic or verify",
  },
  skipApiVersionCheck: { kind: "switch", help: "accept any x-ms-version" },
  strictApiVersion: { kind: "switch", help: "reject versions later than the newest known one" },
  disableProductStyleUrl: { kind: "switch", help: "never read the account from the host name" },
  inMemoryPersistence: { kind: "switch", help: "store nothing on disk; lost at the end" },
  extentMemoryLimit: { kind: "megabytes", value: "MB", help: "limit of contents in memory" },
  disableTelemetry: { kind: "switch", help: "no effect: there is no telemetry" },
  fileHost: { kind: "host", value: "HOST", help: "address of the file service (REST)" },
  filePort: { kind: "port", value: "PORT", help: "port of the file service (REST)" },
  fileKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "idle time of connections" },
  dfsHost: { kind: "host", value: "HOST", help: "address of the Data Lake endpoint (dfs)" },
  dfsPort: { kind: "port", value: "PORT", help: "port of the Data Lake endpoint (dfs)" },
  smbHost: { kind: "host", value: "HOST", help: "address of the file service (SMB)" },
  smbPort: { kind: "port", value: "PORT", help: "port of the file service (SMB)" },
  noSmb: { kind: "switch", help: "do not serve SMB" },
  smbOldestDialect: { kind: "switch", help: "accept SMB 2.0.2 from very old clients" },
  smbSigning: {
    kind: "choice",
    value: "WHEN",
    choices: ["required", "optional"],
    help: "signing of messages: required or optional",
  },
  adminHost: { kind: "host", value: "HOST", help: "address of the explorer and admin API" },
  adminPort: { kind: "port", value: "PORT", help: "port of the explorer, admin API and metrics" },
  adminToken: { kind: "text", value: "TOKEN", help: "token for admin logins, 16+ characters" },
  adminTokenFile: { kind: "file", value: "FILE", help: "file that contains the admin token" },
  pwdFile: { kind: "file", value: "FILE", help: "file that contains the value of --pwd" },
  storeFile: { kind: "file", value: "FILE", help: "file that contains the value of --store" },
  config: { kind: "file", value: "FILE", help: "accounts and roles (JSON), reread on SIGHUP" },
  allowedSources: {
    kind: "text",
    value: "RANGES",
    help: "otherwise blocked addresses copies may read, as 127.0.0.0/8",
  },
  forbiddenSources: {
    kind: "text",
    value: "RANGES",
    help: "addresses copies must not read, as 10.0.0.0/8,fd00::/8",
  },
  eventWebhooks: {
    kind: "text",
    value: "URLS",
    help: "where events may be sent, as https://example.com/hooks/",
  },
  eventLogDays: { kind: "count", value: "N", help: "how long events wait for subscriptions" },
  eventLogMegabytes: {
    kind: "megabytes",
    value: "MB",
    help: "limit of the event log of an account",
  },
  enableHierarchicalNamespace: {
    kind: "switch",
    help: "directories (Data Lake) for the development account",
  },
  scrubMegabytesPerSecond: {
    kind: "megabytes",
    value: "MB",
    help: "compare stored content with its checksums at this rate",
  },
  auditLog: { kind: "file", value: "FILE", help: "record who did what, as lines of JSON" },
  auditLogMegabytes: { kind: "megabytes", value: "MB", help: "size at which it is renamed" },
  auditLogFiles: { kind: "count", value: "N", help: "renamed audit logs that are kept" },
  auditSyslog: {
    kind: "url",
    value: "URL",
    help: "send audit lines to syslog: udp://…, tcp://… or tls://…",
  },
  auditWebhook: { kind: "url", value: "URL", help: "post audit lines to this URL" },
  otlp: { kind: "url", value: "URL", help: "export traces and metrics to this OTLP receiver" },
  noDevelopmentAccount: { kind: "switch", help: "no devstoreaccount1 unless it is configured" },
  workers: {
    kind: "workers",
    value: "N|auto",
    help: "processes that serve the same ports; auto: one per core",
  },
  https: { kind: "switch", help: "serve HTTPS with a certificate in the data folder" },
  init: { kind: "file", value: "FILE", help: "create containers, queues … of this JSON file" },
  enableReset: { kind: "switch", help: "allow POST /admin/v1/reset to delete everything" },
  store: {
    kind: "url",
    value: "URL",
    help: "store records in postgres://…, which nodes may share",
  },
  content: {
    kind: "url",
    value: "URL",
    help: "store contents in s3://bucket/prefix?endpoint=https://…",
  },
  encryption: {
    kind: "text",
    value: "SOURCE",
    help: "encrypt all data; master key: file:PATH, env:NAME or command:…",
  },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

type ValueOf<K extends FlagKind> = K extends NumberKind
  ? number
  : K extends "switch"
    ? boolean
    : K extends "workers"
      ? number | "auto"
      : string;

/** The value of every flag; absent ones get their default. */
export type FlagValues = {
  readonly [N in FlagName]?: ValueOf<(typeof flags)[N]["kind"]>;
};

/** Flags without an entry have no default. */
export const flagDefaults = {
  blobHost: loopback,
  blobPort: 10_000,
  blobKeepAliveTimeout: 5,
  queueHost: loopback,
  queuePort: 10_001,
  queueKeepAliveTimeout: 5,
  tableHost: loopback,
  tablePort: 10_002,
  tableKeepAliveTimeout: 5,
  silent: false,
  loose: false,
  skipApiVersionCheck: false,
  strictApiVersion: false,
  disableProductStyleUrl: false,
  inMemoryPersistence: false,
  disableTelemetry: false,
  fileHost: loopback,
  filePort: 10_003,
  fileKeepAliveTimeout: 5,
  dfsHost: loopback,
  dfsPort: 10_004,
  smbHost: loopback,
  smbPort: 10_445,
  noSmb: false,
  smbOldestDialect: false,
  smbSigning: "required",
  adminHost: loopback,
  adminPort: 10_010,
  workers: 1,
  enableHierarchicalNamespace: false,
  auditLogMegabytes: 100,
  auditLogFiles: 10,
  eventLogDays: 7,
  eventLogMegabytes: 1024,
  noDevelopmentAccount: false,
  https: false,
  enableReset: false,
} as const satisfies FlagValues;

/** The data folder without `--location`. A separate folder, so that data does not mix with files of
 *  the user. */
export const defaultLocation = ".etagere";

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}
