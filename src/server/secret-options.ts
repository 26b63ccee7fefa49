import type { SettingsResult } from "../account/field-table.ts";
import type { FlagValues } from "./flags.ts";
import type { ServerOptionInputs } from "./options.ts";
import { readStart } from "../host/files.ts";
import { messageOf, StartRefused } from "../host/refused.ts";
import { environmentVariable } from "../host/world.ts";

/** Options whose value is a secret or contains one. A command line is visible to all users of a
 *  machine, so each can also be given as a file or as an environment variable. */
const secretOptions = {
  adminToken: { file: "adminTokenFile", variable: "ETAGERE_ADMIN_TOKEN", applies: () => true },
  pwd: {
    file: "pwdFile",
    variable: "ETAGERE_PWD",
    applies: ({ cert, key }: Omit<FlagValues, "init">) => cert !== undefined && key === undefined,
  },
  store: {
    file: "storeFile",
    variable: "ETAGERE_STORE",
    applies: ({ inMemoryPersistence }: Omit<FlagValues, "init">) => inMemoryPersistence !== true,
  },
} as const;

type SecretName = keyof typeof secretOptions;

const secretBytesMax = 64 * 1024;

interface SecretSources {
  /** Formats the name of an option for messages: `--pwd`, or `pwd` for `start()`. */
  readonly spell?: (name: string) => string;
  /** Reads an environment variable; undefined: none is read. */
  readonly variable?: (name: string) => string | undefined;
}

/** Replaces the options that name a file by the content of the file, and adds secrets from the
 *  environment. The option itself precedes the environment. */
export async function readSecrets<T extends ServerOptionInputs>(
  input: T,
  { spell = (name) => name, variable }: SecretSources = {},
): Promise<SettingsResult<T>> {
  const problems: string[] = [];
  const found: Partial<Record<SecretName, string>> = {};
  for (const name of ["adminToken", "pwd", "store"] as const) {
    const { file, variable: variableName, applies } = secretOptions[name];
    const path = input[file];
    if (path !== undefined && input[name] !== undefined) {
      problems.push(`${spell(file)}: contradicts ${spell(name)}`);
    } else if (path !== undefined) {
      const content = await readSecretFile(path);
      if (content.ok) found[name] = content.value;
      else problems.push(`${spell(file)}: ${content.problems.join("; ")}`);
    } else if (input[name] === undefined && applies(input)) {
      const value = variable?.(variableName);
      if (value !== undefined && value !== "") found[name] = value;
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  const rest = { ...input };
  for (const { file } of Object.values(secretOptions)) delete rest[file];
  return { ok: true, value: { ...rest, ...telemetryIn(input, variable), ...found } };
}

/** The standard variable of OpenTelemetry that enables it. */
function telemetryIn(
  { otlp }: ServerOptionInputs,
  variable: SecretSources["variable"],
): Pick<ServerOptionInputs, "otlp"> {
  const url = variable?.("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (otlp !== undefined || url === undefined || url === "") return {};
  return { otlp: url };
}

/** Reads a secret without the line breaks and spaces around it. Messages never contain it. */
export async function readSecretFile(path: string): Promise<SettingsResult<string>> {
  try {
    const bytes = await readStart(path, secretBytesMax + 1);
    const text = bytes.toString("utf8").trim();
    if (bytes.length > secretBytesMax) {
      return { ok: false, problems: [`${path} is longer than ${secretBytesMax} bytes`] };
    }
    return text === "" ? { ok: false, problems: [`${path} is empty`] } : { ok: true, value: text };
  } catch (error) {
    return { ok: false, problems: [`${path} cannot be read (${messageOf(error)})`] };
  }
}

/** The text of AZURITE_ACCOUNTS, or the content of the file that AZURITE_ACCOUNTS_FILE names. */
export async function accountsVariable(): Promise<string | undefined> {
  const file = environmentVariable("AZURITE_ACCOUNTS_FILE");
  if (file === undefined || file === "") return environmentVariable("AZURITE_ACCOUNTS");
  const read = await readSecretFile(file);
  if (read.ok) return read.value;
  throw new StartRefused(read.problems.map((problem) => `AZURITE_ACCOUNTS_FILE: ${problem}`));
}
