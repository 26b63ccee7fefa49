/** The flags of the server: their kinds, defaults and help texts. The command line, `start()`,
 *  `--help`, the shell completion and docs/OPTIONS.md are all derived from this table. */

/** Kinds of flags whose value is a number. */
const numberKinds = ["port", "seconds", "megabytes", "count"] as const;

type NumberKind = (typeof numberKinds)[number];

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
  /** The value of a flag that is not given; absent if it has no default. */
  readonly standard?: string | number | boolean;
  readonly help: string;
}

const file = (help: string) => ({ kind: "file", value: "FILE", help }) as const;
const host = (help: string) =>
  ({ kind: "host", value: "HOST", standard: "127.0.0.1", help }) as const;
const port = (standard: number, help: string) =>
  ({ kind: "port", value: "PORT", standard, help }) as const;
const text = (value: string, help: string) => ({ kind: "text", value, help }) as const;
const url = (help: string) => ({ kind: "url", value: "URL", help }) as const;
const megabytes = (help: string) => ({ kind: "megabytes", value: "MB", help }) as const;
const toggle = (help: string) => ({ kind: "switch", standard: false, help }) as const;
const keepAlive = {
  kind: "seconds",
  value: "SECONDS",
  standard: 5,
  help: "idle time of connections",
} as const;

/** Up to `disableTelemetry` the names and letters are those of Azurite, so that its command lines
 *  work; the rest are Etagere's own. */
export const flags = {
  blobHost: host("address of the blob service"),
  blobPort: port(10_000, "port of the blob service; 0: any free port"),
  blobKeepAliveTimeout: keepAlive,
  queueHost: host("address of the queue service"),
  queuePort: port(10_001, "port of the queue service"),
  queueKeepAliveTimeout: keepAlive,
  tableHost: host("address of the table service"),
  tablePort: port(10_002, "port of the table service"),
  tableKeepAliveTimeout: keepAlive,
  location: { kind: "folder", short: "l", value: "FOLDER", help: "data folder" },
  silent: { ...toggle("no access log; log errors only"), short: "s" },
  debug: { ...file("write a detailed log to this file"), short: "d" },
  loose: { ...toggle("no effect: unknown headers are always ignored"), short: "L" },
  cert: file("serve HTTPS with this certificate (pem or pfx)"),
  key: file("private key of a pem certificate"),
  pwd: text("PASSWORD", "password of a pfx certificate"),
  oauth: {
    kind: "choice",
    value: "MODE",
    choices: ["basic", "verify"],
    help: "accept bearer tokens over HTTPS: basic or verify",
  },
  skipApiVersionCheck: toggle("accept any x-ms-version"),
  strictApiVersion: toggle("reject versions later than the newest known one"),
  disableProductStyleUrl: toggle("never read the account from the host name"),
  inMemoryPersistence: toggle("store nothing on disk; lost at the end"),
  extentMemoryLimit: megabytes("limit of contents in memory"),
  disableTelemetry: toggle("no effect: there is no telemetry"),
  fileHost: host("address of the file service (REST)"),
  filePort: port(10_003, "port of the file service (REST)"),
  fileKeepAliveTimeout: keepAlive,
  dfsHost: host("address of the Data Lake endpoint (dfs)"),
  dfsPort: port(10_004, "port of the Data Lake endpoint (dfs)"),
  smbHost: host("address of the file service (SMB)"),
  smbPort: port(10_445, "port of the file service (SMB)"),
  noSmb: toggle("do not serve SMB"),
  smbOldestDialect: toggle("accept SMB 2.0.2 from very old clients"),
  smbSigning: {
    kind: "choice",
    value: "WHEN",
    choices: ["required", "optional"],
    standard: "required",
    help: "signing of messages: required or optional",
  },
  adminHost: host("address of the explorer and admin API"),
  adminPort: port(10_010, "port of the explorer, admin API and metrics"),
  adminToken: text("TOKEN", "token for admin logins, 16+ characters"),
  adminTokenFile: file("file that contains the admin token"),
  pwdFile: file("file that contains the value of --pwd"),
  storeFile: file("file that contains the value of --store"),
  config: file("accounts and roles (JSON), reread on SIGHUP"),
  allowedSources: text("RANGES", "otherwise blocked addresses copies may read, as 127.0.0.0/8"),
  forbiddenSources: text("RANGES", "addresses copies must not read, as 10.0.0.0/8,fd00::/8"),
  eventWebhooks: text("URLS", "where events may be sent, as https://example.com/hooks/"),
  eventLogDays: {
    kind: "count",
    value: "N",
    standard: 7,
    help: "how long events wait for subscriptions",
  },
  eventLogMegabytes: { ...megabytes("limit of the event log of an account"), standard: 1024 },
  enableHierarchicalNamespace: toggle("directories (Data Lake) for the development account"),
  scrubMegabytesPerSecond: megabytes("compare stored content with its checksums at this rate"),
  auditLog: file("record who did what, as lines of JSON"),
  auditLogMegabytes: { ...megabytes("size at which it is renamed"), standard: 100 },
  auditLogFiles: {
    kind: "count",
    value: "N",
    standard: 10,
    help: "renamed audit logs that are kept",
  },
  auditSyslog: url("send audit lines to syslog: udp://…, tcp://… or tls://…"),
  auditWebhook: url("post audit lines to this URL"),
  otlp: url("export traces and metrics to this OTLP receiver"),
  noDevelopmentAccount: toggle("no devstoreaccount1 unless it is configured"),
  workers: {
    kind: "workers",
    value: "N|auto",
    standard: 1,
    help: "processes that serve the same ports; auto: one per core",
  },
  https: toggle("serve HTTPS with a certificate in the data folder"),
  init: file("create containers, queues … of this JSON file"),
  enableReset: toggle("allow POST /admin/v1/reset to delete everything"),
  store: url("store records in postgres://…, which nodes may share"),
  content: url("store contents in s3://bucket/prefix?endpoint=https://…"),
  encryption: text("SOURCE", "encrypt all data; master key: file:PATH, env:NAME or command:…"),
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

type WithDefault = {
  [N in FlagName]: (typeof flags)[N] extends { readonly standard: unknown } ? N : never;
}[FlagName];

export const flagDefaults = Object.fromEntries(
  Object.entries(flags).flatMap(([name, flag]) =>
    "standard" in flag ? [[name, flag.standard]] : [],
  ),
) as { readonly [N in WithDefault]: NonNullable<FlagValues[N]> };

/** The data folder without `--location`. A separate folder, so that data does not mix with files of
 *  the user. */
export const defaultLocation = ".etagere";

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

/** The value of a flag as a command line gives it: a number for the kinds that are numbers. A text
 *  that is not a number is kept, so that the error message can show it. */
export function flagValueOf(name: FlagName, given: string): string | number {
  const kinds: readonly FlagKind[] = [...numberKinds, "workers"];
  return kinds.includes(flags[name].kind) && /^\d+(\.\d+)?$/.test(given) ? Number(given) : given;
}
