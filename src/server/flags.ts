/** How a flag's value reads, on the command line and in `start()` alike. */
export type FlagKind = "text" | "port" | "switch" | "seconds" | "megabytes";

export interface Flag {
  readonly kind: FlagKind;
  readonly short?: string;
  /** What stands for the value in the help text. */
  readonly value?: string;
  readonly help: string;
}

const loopback = "127.0.0.1";

/** The first part is Azurite's, name for name and letter for letter; the second is ours. */
export const flags = {
  blobHost: { kind: "text", value: "HOST", help: "listen for blobs at this address" },
  blobPort: { kind: "port", value: "PORT", help: "0 takes a free port, here and below" },
  blobKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "close idle connections" },
  queueHost: { kind: "text", value: "HOST", help: "listen for queues at this address" },
  queuePort: { kind: "port", value: "PORT", help: "port of the queue service" },
  queueKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "close idle connections" },
  tableHost: { kind: "text", value: "HOST", help: "listen for tables at this address" },
  tablePort: { kind: "port", value: "PORT", help: "port of the table service" },
  tableKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "close idle connections" },
  location: { kind: "text", short: "l", value: "FOLDER", help: "where everything is stored" },
  silent: { kind: "switch", short: "s", help: "no access log, and log errors only" },
  debug: { kind: "text", short: "d", value: "FILE", help: "write a detailed log to this file" },
  loose: { kind: "switch", short: "L", help: "accepted; unknown headers are always ignored" },
  cert: { kind: "text", value: "FILE", help: "serve HTTPS with this certificate (pem or pfx)" },
  key: { kind: "text", value: "FILE", help: "the key that belongs to a pem certificate" },
  pwd: { kind: "text", value: "PASSWORD", help: "the password of a pfx certificate" },
  oauth: { kind: "text", value: "basic", help: "let bearer tokens in, over HTTPS" },
  skipApiVersionCheck: { kind: "switch", help: "accept any x-ms-version" },
  strictApiVersion: { kind: "switch", help: "refuse versions later than the newest known one" },
  disableProductStyleUrl: { kind: "switch", help: "never take the account from the host name" },
  inMemoryPersistence: { kind: "switch", help: "store nothing on disk; all is gone at the end" },
  extentMemoryLimit: { kind: "megabytes", value: "MB", help: "how much of it stays in memory" },
  disableTelemetry: { kind: "switch", help: "accepted; there is no telemetry" },
  fileHost: { kind: "text", value: "HOST", help: "listen for files (REST) at this address" },
  filePort: { kind: "port", value: "PORT", help: "port of the file service (REST)" },
  fileKeepAliveTimeout: { kind: "seconds", value: "SECONDS", help: "close idle connections" },
  dfsHost: { kind: "text", value: "HOST", help: "listen for Data Lake (dfs) at this address" },
  dfsPort: { kind: "port", value: "PORT", help: "port of the Data Lake endpoint (dfs)" },
  smbHost: { kind: "text", value: "HOST", help: "listen for files (SMB) at this address" },
  smbPort: { kind: "port", value: "PORT", help: "port of the file service (SMB)" },
  noSmb: { kind: "switch", help: "do not serve SMB" },
  smbOldestDialect: { kind: "switch", help: "also speak SMB 2.0.2, for very old clients" },
  smbSigning: { kind: "text", value: "WHEN", help: "messages are signed: required or optional" },
  adminHost: { kind: "text", value: "HOST", help: "the explorer; elsewhere it asks for a login" },
  adminPort: { kind: "port", value: "PORT", help: "port of explorer, admin API and metrics" },
  adminToken: { kind: "text", value: "TOKEN", help: "lets in beside account keys; 16 or more" },
  config: { kind: "text", value: "FILE", help: "settings per account (JSON), re-read on SIGHUP" },
  allowedSources: {
    kind: "text",
    value: "RANGES",
    help: "blocked addresses copies may read, as 127.0.0.0/8",
  },
  forbiddenSources: {
    kind: "text",
    value: "RANGES",
    help: "addresses copies must not read, as 10.0.0.0/8,fd00::/8",
  },
  enableHierarchicalNamespace: {
    kind: "switch",
    help: "directories (Data Lake) for the development account",
  },
  enableReset: { kind: "switch", help: "let POST /admin/v1/reset delete everything" },
  store: {
    kind: "text",
    value: "URL",
    help: "records go to postgres://… and nodes may share them",
  },
  content: {
    kind: "text",
    value: "URL",
    help: "bytes go to s3://bucket/prefix?endpoint=https://…",
  },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

type ValueOf<K extends FlagKind> = K extends "text"
  ? string
  : K extends "switch"
    ? boolean
    : number;

/** What whoever starts a server may say; all of it can be left out. */
export type FlagValues = {
  readonly [N in FlagName]?: ValueOf<(typeof flags)[N]["kind"]>;
};

/** Flags without an entry have no value unless one is given. */
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
  enableHierarchicalNamespace: false,
  enableReset: false,
} as const satisfies FlagValues;

/** Beside the work of whoever starts a server, not in the midst of it. */
export const defaultLocation = ".etagere";

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}
