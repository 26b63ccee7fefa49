import type { IdentityInput } from "../account/parse-identity.ts";
import type { AccountInputs } from "../account/parse-settings.ts";
import type { SettingsResult } from "../account/object-reader.ts";
import type { ServiceName } from "../protocol/names.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import type { OAuthMode } from "../http/auth/request.ts";
import type { LogLimits } from "../events/log-retention.ts";
import { isAddressRange, type SourceRanges } from "../http/source/source-policy.ts";
import { masterKeySource } from "../host/master-key.ts";
import { isDatabaseAddress } from "../store/postgres/addresses.ts";
import type { InitInput } from "../commands/init/init-input.ts";
import { flagDefaults, flags, isFlagName } from "./flags.ts";
import type { FlagName, FlagValues } from "./flags.ts";

/** The options of `start()`: the command line's flags by the same names, and options that only
 *  programs have. */
export interface StartOptions extends Omit<FlagValues, "workers" | "init"> {
  /** 0 selects a free port for every listener whose port is not given. */
  readonly port?: 0;
  /** Settings per account, as in the file of `config`; the two exclude each other. */
  readonly accounts?: AccountInputs;
  /** Principals, roles and issuers, as in the file of `config`; the two exclude each other. */
  readonly identity?: IdentityInput;
  /** Resources to create at the start, or the path of a JSON file that describes them. */
  readonly init?: string | InitInput;
  /** The services to serve; default all. SMB is served only with `file`. */
  readonly services?: readonly ServiceName[];
}

/** Ports of listeners that Azurite does not have. */
const ownPorts = ["filePort", "dfsPort", "smbPort", "adminPort"] as const;

export type OwnPort = (typeof ownPorts)[number];

/** Options of a server: of `start()`, or of the command line, which also has worker processes. */
export type ServerOptionInputs = StartOptions & Pick<FlagValues, "workers">;

type Defaulted = Exclude<keyof typeof flagDefaults, "workers">;
type Widen<T> = T extends string ? string : T extends number ? number : boolean;

/** Validated options with all defaults. */
export type Options = {
  readonly [N in Defaulted]: Widen<(typeof flagDefaults)[N]>;
} & Omit<FlagValues, Defaulted | "workers" | "init"> & {
    readonly init?: string | InitInput;
    readonly workers: number | "auto";
    readonly accounts?: AccountInputs;
    readonly identity?: IdentityInput;
    readonly services: readonly ServiceName[];
    /** Ports of `ownPorts` that were not given. If such a port is in use, a free one is taken
     *  instead, so that a second server can be started with the flags of Azurite alone. */
    readonly replaceablePorts: ReadonlySet<OwnPort>;
  };

const freePorts = {
  blobPort: 0,
  queuePort: 0,
  tablePort: 0,
  filePort: 0,
  dfsPort: 0,
  smbPort: 0,
  adminPort: 0,
} as const;

const portMax = 65_535;
const keepAliveSecondsMax = 3600;
const tokenUnitsMin = 16;
export const workersMax = 64;
const countMax = 1000;
const notFlags: ReadonlySet<string> = new Set(["port", "accounts", "identity", "services"]);
const allServices: readonly ServiceName[] = ["blob", "queue", "table", "file"];

/** Validates options and adds the defaults. `spell` formats the name of an option for messages:
 *  `--blobPort` or `blobPort`. */
export function resolveOptions(
  input: ServerOptionInputs,
  spell: (name: string) => string = (name) => name,
): SettingsResult<Options> {
  const problems: string[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || notFlags.has(name)) continue;
    const problem = isFlagName(name) ? checkValue(name, value) : "no such option";
    if (problem !== undefined) problems.push(`${spell(name)}: ${problem}`);
  }
  problems.push(...checkTogether(input, spell));
  if (input.port !== undefined && input.port !== 0) problems.push(`${spell("port")}: must be 0`);
  if (problems.length > 0) return { ok: false, problems };
  const { port, ...given } = input;
  const defaults = port === 0 ? { ...flagDefaults, ...freePorts } : flagDefaults;
  const replaceablePorts = new Set(ownPorts.filter((name) => given[name] === undefined));
  const computed = { services: given.services ?? allServices, replaceablePorts };
  return { ok: true, value: { ...defaults, ...withoutUndefined(given), ...computed } };
}

function checkValue(name: FlagName, value: unknown): string | undefined {
  if (name === "init" && typeof value === "object") return undefined;
  switch (flags[name].kind) {
    case "text":
    case "file":
    case "folder":
    case "host":
    case "url":
    case "choice":
      return typeof value === "string" && value !== "" ? checkText(name, value) : "needs a value";
    case "switch":
      return typeof value === "boolean" ? undefined : `must be true or false, not ${show(value)}`;
    case "port":
      return inRange(value, 0, portMax)
        ? undefined
        : `must be a port, 0 to ${portMax}, not ${show(value)}`;
    case "seconds":
      return inRange(value, 0, keepAliveSecondsMax)
        ? undefined
        : `must be whole seconds, 0 to ${keepAliveSecondsMax}, not ${show(value)}`;
    case "count":
      return inRange(value, 0, countMax)
        ? undefined
        : `must be a whole number, 0 to ${countMax}, not ${show(value)}`;
    case "workers":
      return value === "auto" || inRange(value, 1, workersMax)
        ? undefined
        : `must be 1 to ${workersMax} or auto, not ${show(value)}`;
    case "megabytes":
      return typeof value === "number" && value > 0 && Number.isFinite(value)
        ? undefined
        : `must be a number of megabytes above 0, not ${show(value)}`;
  }
}

function checkText(name: FlagName, value: string): string | undefined {
  if (name === "adminToken" && value.length < tokenUnitsMin) {
    return `must have at least ${tokenUnitsMin} characters`;
  }
  if (name === "oauth" && !["basic", "verify"].includes(value.toLowerCase())) {
    return `must be "basic" or "verify", not ${show(value)}`;
  }
  if (name === "smbSigning" && value !== "required" && value !== "optional") {
    return `must be "required" or "optional", not ${show(value)}`;
  }
  if (name === "forbiddenSources" || name === "allowedSources") {
    const wrong = value.split(",").find((range) => !isAddressRange(range));
    if (wrong !== undefined) return `must be ranges like 10.0.0.0/8, not ${show(wrong)}`;
  }
  if (name === "eventWebhooks") {
    const wrong = value.split(",").find((url) => !/^https?:\/\//.test(url) || !URL.canParse(url));
    if (wrong !== undefined) return `must be URLs like https://example.com/, not ${show(wrong)}`;
  }
  if (name === "auditSyslog" && !(/^(udp|tcp|tls):\/\/[^/]/.test(value) && URL.canParse(value))) {
    return `must be udp://host:514, tcp://host:601 or tls://host:6514, not ${show(value)}`;
  }
  if (name === "auditWebhook" && !(/^https?:\/\//.test(value) && URL.canParse(value))) {
    return `must be a URL like https://example.com/audit, not ${show(value)}`;
  }
  if (name === "otlp" && (!/^https?:\/\//.test(value) || !URL.canParse(value))) {
    return `must be a URL like http://localhost:4318, not ${show(value)}`;
  }
  if (name === "store" && !isDatabaseAddress(value)) {
    return `must be postgres://…, not ${show(value)}`;
  }
  if (name === "encryption" && !masterKeySource.test(value)) {
    return `must be file:PATH, env:NAME or command:COMMAND, not ${show(value)}`;
  }
  const isBucket = value.startsWith("s3://") && URL.canParse(value);
  return name === "content" && !isBucket ? `must be s3://…, not ${show(value)}` : undefined;
}

function checkTogether(
  input: ServerOptionInputs,
  spell: (name: string) => string,
): readonly string[] {
  const problems: string[] = [];
  const refuse = (name: FlagName, why: string): void =>
    void problems.push(`${spell(name)}: ${why}`);
  const { cert, key, pwd, inMemoryPersistence, extentMemoryLimit, location } = input;
  if (cert !== undefined && key === undefined && pwd === undefined) {
    refuse("cert", `needs ${spell("key")} (pem) or ${spell("pwd")} (pfx)`);
  }
  if (cert === undefined && key !== undefined) refuse("key", `needs ${spell("cert")}`);
  if (cert === undefined && pwd !== undefined) refuse("pwd", `needs ${spell("cert")}`);
  if (key !== undefined && pwd !== undefined) refuse("pwd", `contradicts ${spell("key")}`);
  if (input.https === true && cert !== undefined) refuse("https", `contradicts ${spell("cert")}`);
  if (input.https === true && inMemoryPersistence === true) {
    refuse("https", `contradicts ${spell("inMemoryPersistence")}: certificates need a folder`);
  }
  if (inMemoryPersistence === true && location !== undefined) {
    refuse("inMemoryPersistence", `contradicts ${spell("location")}`);
  }
  for (const place of ["store", "content", "encryption"] as const) {
    const contradicts = inMemoryPersistence === true && input[place] !== undefined;
    if (contradicts) refuse(place, `contradicts ${spell("inMemoryPersistence")}`);
  }
  if (extentMemoryLimit !== undefined && inMemoryPersistence !== true) {
    refuse("extentMemoryLimit", `needs ${spell("inMemoryPersistence")}`);
  }
  if (inMemoryPersistence === true && (input.workers ?? 1) !== 1) {
    refuse("workers", `contradicts ${spell("inMemoryPersistence")}: processes share no memory`);
  }
  if (input.strictApiVersion === true && input.skipApiVersionCheck === true) {
    refuse("strictApiVersion", `contradicts ${spell("skipApiVersionCheck")}`);
  }
  const unknownService = input.services?.find((name) => !allServices.includes(name));
  if (unknownService !== undefined) problems.push(`services: no service ${show(unknownService)}`);
  for (const name of ["accounts", "identity"] as const) {
    const isTwofold = input[name] !== undefined && input.config !== undefined;
    if (isTwofold) refuse("config", `contradicts ${spell(name)}`);
  }
  return problems;
}

/** Options that are valid but probably a mistake. As in Azurite, `--oauth` without a certificate
 *  starts and every bearer token is rejected; an error here would break command lines that work
 *  there. */
export function optionWarnings(
  { oauth, cert, https }: Options,
  spell: (name: string) => string = (name) => name,
): readonly string[] {
  if (oauth === undefined || cert !== undefined || https) return [];
  return [
    `${spell("oauth")}: without ${spell("cert")} and ${spell("key")} every bearer token is ` +
      "rejected, because tokens are accepted over HTTPS only; keys and SAS work",
  ];
}

/** `--https` alone accepts the tokens of the local token service. */
export function oauthOf({ oauth, https }: Options): OAuthMode | undefined {
  if (oauth === undefined) return https ? "verify" : undefined;
  return oauth.toLowerCase() === "verify" ? "verify" : "basic";
}

/** Whether other machines can reach no listener. */
export function isLocal(options: Options): boolean {
  const hosts = ["blobHost", "queueHost", "tableHost", "fileHost", "dfsHost", "adminHost"] as const;
  return [...hosts, "smbHost" as const].every((name) => isLoopback(options[name]));
}

/** Address ranges that copies may read although they are blocked by default, and additional blocked
 *  ones. */
export function sourceRanges({ allowedSources, forbiddenSources }: Options): SourceRanges {
  return { allowed: listOf(allowedSources), forbidden: listOf(forbiddenSources) };
}

const secondsPerDay = 86_400;
const bytesPerMegabyte = 1024 * 1024;

/** How much of an event log is kept for subscriptions that do not read it. */
export function eventLogLimits({ eventLogDays, eventLogMegabytes }: Options): LogLimits {
  return {
    ageSecondsMax: eventLogDays * secondsPerDay,
    bytesMax: eventLogMegabytes * bytesPerMegabyte,
  };
}

/** The beginnings of the URLs to which events may be sent. */
export function webhookPrefixes({ eventWebhooks }: Options): readonly string[] {
  return listOf(eventWebhooks);
}

function listOf(ranges: string | undefined): readonly string[] {
  return ranges === undefined ? [] : ranges.split(",");
}

function inRange(value: unknown, low: number, high: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}

function show(value: unknown): string {
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

/** Removes options that are explicitly undefined, which means the default. */
function withoutUndefined(
  values: Omit<ServerOptionInputs, "port">,
): Omit<ServerOptionInputs, "port"> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
