import type { IdentityInput } from "../account/parse-identity.ts";
import type { AccountInputs } from "../account/parse-settings.ts";
import type { SettingsResult } from "../account/field-table.ts";
import { serviceNames, type ServiceName } from "../protocol/names.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import type { OAuthMode } from "../http/auth/request.ts";
import type { LogLimits } from "../events/log-retention.ts";
import { isAddressRange, type SourceRanges } from "../http/source/source-policy.ts";
import { masterKeySource } from "../host/master-key.ts";
import { isDatabaseAddress } from "../store/postgres/addresses.ts";
import type { InitInput } from "../commands/init/init-input.ts";
import {
  flagDefaults,
  flags,
  isFlagName,
  type Flag,
  type FlagName,
  type FlagValues,
} from "./flags.ts";

/** The options of a server: their types, how they are validated together, and the values that other
 *  modules derive from them. */

/** The options of `start()`, the function that runs a server inside a program: the flags of the
 *  command line by the same names, and options that only programs have. */
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

/** The port flags of listeners that Azurite does not have. */
const ownPorts = ["filePort", "dfsPort", "smbPort", "adminPort"] as const;

export type OwnPort = (typeof ownPorts)[number];

/** Options of a server: of `start()`, or of the command line, which also has worker processes. */
export type ServerOptionInputs = StartOptions & Pick<FlagValues, "workers">;

/** The validated options of a server, with defaults. */
export type Options = typeof flagDefaults &
  Omit<FlagValues, keyof typeof flagDefaults | "init"> & {
    readonly init?: string | InitInput;
    readonly accounts?: AccountInputs;
    readonly identity?: IdentityInput;
    readonly services: readonly ServiceName[];
    /** Ports of `ownPorts` that were not given. If one of them is in use, the server takes a free
     *  port, so that a second server can be started with the flags of Azurite alone. */
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
/** Options that are not flags; only `start()` accepts them. */
const notFlags: ReadonlySet<string> = new Set(["port", "accounts", "identity", "services"]);

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
  if (input.port !== undefined && input.port !== 0) problems.push(portProblem(input.port, spell));
  if (problems.length > 0) return { ok: false, problems };
  const { port, ...given } = input;
  const defaults = port === 0 ? { ...flagDefaults, ...freePorts } : flagDefaults;
  const replaceablePorts = new Set(ownPorts.filter((name) => given[name] === undefined));
  const computed = { services: given.services ?? serviceNames, replaceablePorts };
  return { ok: true, value: { ...defaults, ...withoutUndefined(given), ...computed } };
}

function portProblem(given: unknown, spell: (name: string) => string): string {
  const own = Object.keys(freePorts).map(spell).join(", ");
  return `${spell("port")}: must be 0, for free ports, not ${show(given)}; to choose one: ${own}`;
}

function checkValue(name: FlagName, value: unknown): string | undefined {
  if (name === "init" && typeof value === "object") return undefined;
  const flag: Flag = flags[name];
  switch (flag.kind) {
    case "choice":
      return checkChoice(flag.choices ?? [], name === "oauth" ? lowerCased(value) : value);
    case "text":
    case "file":
    case "folder":
    case "host":
    case "url":
      return typeof value === "string" && value !== "" ? checkText(name, value) : "needs a value";
    case "switch":
      return typeof value === "boolean" ? undefined : `must be true or false, not ${show(value)}`;
    case "port":
      return checkRange(value, 0, portMax, `a port, 0 to ${portMax}`);
    case "seconds":
      return checkRange(
        value,
        0,
        keepAliveSecondsMax,
        `whole seconds, 0 to ${keepAliveSecondsMax}`,
      );
    case "count":
      return checkRange(value, 0, countMax, `a whole number, 0 to ${countMax}`);
    case "workers":
      if (value === "auto") return undefined;
      return checkRange(value, 1, workersMax, `1 to ${workersMax} or auto`);
    case "megabytes":
      return typeof value === "number" && value > 0 && Number.isFinite(value)
        ? undefined
        : `must be a number of megabytes above 0, not ${show(value)}`;
  }
}

function checkChoice(choices: readonly string[], value: unknown): string | undefined {
  if (choices.some((choice) => choice === value)) return undefined;
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return `must be ${quoted.join(" or ")}, not ${show(value)}`;
}

/** Azurite accepts `--oauth Basic`, too. */
function lowerCased(value: unknown): unknown {
  return typeof value === "string" ? value.toLowerCase() : value;
}

/** What the value of a flag must be, beyond its kind, and how messages describe it. */
type TextRule = readonly [isValid: (value: string) => boolean, expected: string];

const isHttpUrl = (value: string): boolean => /^https?:\/\//.test(value) && URL.canParse(value);
const isSyslogUrl = (value: string): boolean =>
  /^(udp|tcp|tls):\/\/[^/]/.test(value) && URL.canParse(value);
const isBucket = (value: string): boolean => value.startsWith("s3://") && URL.canParse(value);

const textRules: { readonly [N in FlagName]?: TextRule } = {
  auditSyslog: [isSyslogUrl, "udp://host:514, tcp://host:601 or tls://host:6514"],
  auditWebhook: [isHttpUrl, "a URL like https://example.com/audit"],
  otlp: [isHttpUrl, "a URL like http://localhost:4318"],
  store: [isDatabaseAddress, "postgres://…"],
  encryption: [(value) => masterKeySource.test(value), "file:PATH, env:NAME or command:COMMAND"],
  content: [isBucket, "s3://…"],
};
/** Rules of flags whose value is a list with commas: they apply to each entry. */
const entryRules: { readonly [N in FlagName]?: TextRule } = {
  forbiddenSources: [isAddressRange, "ranges like 10.0.0.0/8"],
  allowedSources: [isAddressRange, "ranges like 10.0.0.0/8"],
  eventWebhooks: [isHttpUrl, "URLs like https://example.com/"],
};

function checkText(name: FlagName, value: string): string | undefined {
  if (name === "adminToken" && value.length < tokenUnitsMin) {
    return `must have at least ${tokenUnitsMin} characters`;
  }
  const rule = textRules[name] ?? entryRules[name];
  if (rule === undefined) return undefined;
  const [isValid, expected] = rule;
  const entries = name in entryRules ? value.split(",") : [value];
  const wrong = entries.find((entry) => !isValid(entry));
  return wrong === undefined ? undefined : `must be ${expected}, not ${show(wrong)}`;
}

function checkTogether(
  input: ServerOptionInputs,
  spell: (name: string) => string,
): readonly string[] {
  const given = (name: keyof ServerOptionInputs): boolean => input[name] !== undefined;
  const isOn = (name: keyof ServerOptionInputs): boolean => input[name] === true;
  const against = (name: string): string => `contradicts ${spell(name)}`;
  const isTls = input.cert !== undefined;
  const inMemory = isOn("inMemoryPersistence");
  const memory = against("inMemoryPersistence");
  const versions = isOn("strictApiVersion") && isOn("skipApiVersionCheck");
  const unknown = input.services?.find((name) => !serviceNames.includes(name));
  const rules: readonly (readonly [name: string, isBroken: boolean, problem: string])[] = [
    [
      "cert",
      isTls && !given("key") && !given("pwd"),
      `needs ${spell("key")} (pem) or ${spell("pwd")} (pfx)`,
    ],
    ["key", !isTls && given("key"), `needs ${spell("cert")}`],
    ["pwd", !isTls && given("pwd"), `needs ${spell("cert")}`],
    ["pwd", given("key") && given("pwd"), against("key")],
    ["https", isOn("https") && isTls, against("cert")],
    ["https", isOn("https") && inMemory, `${memory}: certificates need a folder`],
    ["inMemoryPersistence", inMemory && given("location"), against("location")],
    ["store", inMemory && given("store"), memory],
    ["content", inMemory && given("content"), memory],
    ["encryption", inMemory && given("encryption"), memory],
    [
      "extentMemoryLimit",
      !inMemory && given("extentMemoryLimit"),
      `needs ${spell("inMemoryPersistence")}`,
    ],
    ["workers", inMemory && (input.workers ?? 1) !== 1, `${memory}: processes share no memory`],
    ...(["auditLogFiles", "auditLogMegabytes"] as const).map(
      (name) => [name, given(name) && !given("auditLog"), `needs ${spell("auditLog")}`] as const,
    ),
    ["strictApiVersion", versions, against("skipApiVersionCheck")],
    ["services", unknown !== undefined, `no service ${show(unknown)}`],
    ["config", given("config") && given("accounts"), against("accounts")],
    ["config", given("config") && given("identity"), against("identity")],
  ];
  return rules.flatMap(([name, isBroken, why]) => (isBroken ? [`${spell(name)}: ${why}`] : []));
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

/** How bearer tokens are verified; undefined: they are rejected. `--https` without `--oauth` means
 *  `verify`, so that tokens of the local token service are accepted. */
export function oauthOf({ oauth, https }: Options): OAuthMode | undefined {
  if (oauth === undefined) return https ? "verify" : undefined;
  return oauth.toLowerCase() === "verify" ? "verify" : "basic";
}

/** The listeners of a server, each with options for its host and its port. */
export const listenerNames = [...serviceNames, "dfs", "smb", "admin"] as const;

/** Whether no listener can be reached by other machines. Then programs of this machine may use the
 *  developer identity without a configured secret. */
export function isLocal(options: Options): boolean {
  return listenerNames.every((name) => isLoopback(options[`${name}Host`]));
}

/** Address ranges that copies may read although blocked by default, and further blocked ones. */
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

function checkRange(
  value: unknown,
  low: number,
  high: number,
  expected: string,
): string | undefined {
  const isWhole = typeof value === "number" && Number.isInteger(value);
  const isWithin = isWhole && value >= low && value <= high;
  return isWithin ? undefined : `must be ${expected}, not ${show(value)}`;
}

/** A value as error messages show it. */
export function show(value: unknown): string {
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

/** Removes options that are explicitly undefined, which means the default. */
function withoutUndefined(
  values: Omit<ServerOptionInputs, "port">,
): Omit<ServerOptionInputs, "port"> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
