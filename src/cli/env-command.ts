import { readAdminAddress } from "../server/admin-address.ts";
import { defaultLocation, flagDefaults } from "../server/flags.ts";
import { messageOf } from "../host/start-refused.ts";
import { adminTokenOf } from "./admin-client.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const envCommand: Subcommand = {
  name: "env",
  usage: "[--location FOLDER | --url URL] [--principal NAME] [--shell sh|powershell|json]",
  summary: "print the variables for Azure's identity libraries",
  help: [
    "Prints IDENTITY_ENDPOINT and IDENTITY_HEADER of a running server, with which",
    "DefaultAzureCredential gets its tokens, and the variables that name its certificate",
    'authority if it was started with --https. They contain a secret. In sh: eval "$(etagere env)"',
    "",
    "  -l, --location FOLDER   the server that uses this data folder (default: .etagere, or else",
    "                          the server at the default address)",
    "      --url URL           address of the admin listener",
    "      --token TOKEN       value of --adminToken; not needed if the data folder is readable",
    "      --tokenFile FILE    file that contains it; or the variable ETAGERE_ADMIN_TOKEN",
    "      --principal NAME    AZURE_AUTHORITY_HOST, AZURE_TENANT_ID, AZURE_CLIENT_ID and",
    "                          AZURE_CLIENT_SECRET of this principal instead, with a data folder",
    "                          also AZURE_FEDERATED_TOKEN_FILE, for clients with instance",
    "                          discovery disabled; the server needs --https",
    "      --shell SHELL       sh (default), powershell or json",
    "",
    "exit code: 0 the variables were printed, 1 no server responded or it issues no tokens",
    "example:   etagere env --shell powershell",
  ],
  run: printEnvironment,
};

const options = {
  location: { type: "string", short: "l" },
  url: { type: "string" },
  token: { type: "string" },
  tokenFile: { type: "string" },
  principal: { type: "string" },
  shell: { type: "string" },
} as const;

/** Printed beside variables of the certificate authority alone. */
const noManagedIdentity =
  "this server has no managed identity: configure one, or use --principal NAME (docs/IDENTITY.md)";

async function printEnvironment(words: readonly string[]): Promise<number> {
  const parsed = parseCliArguments(words, options);
  const problem = parsed.ok ? problemIn(parsed) : parsed.problem;
  if (!parsed.ok || problem !== undefined) {
    process.stderr.write(usageError(envCommand, problem ?? ""));
    return 1;
  }
  const { texts } = parsed;
  const location = texts.get("location");
  const found = texts.has("url") ? undefined : await readAdminAddress(location ?? defaultLocation);
  if (found === undefined && location !== undefined) return failWith(`no server uses ${location}`);
  const standard = `http://${flagDefaults.adminHost}:${flagDefaults.adminPort}`;
  const url = texts.get("url") ?? found?.url ?? standard;
  try {
    const given = { token: texts.get("token"), tokenFile: texts.get("tokenFile") };
    const token = (await adminTokenOf(given)) ?? found?.token;
    const variables = await fetchVariables(url, token, texts.get("principal"));
    if (Object.keys(variables).length === 0) {
      return failWith(
        "this server issues no tokens; docs/IDENTITY.md describes how to configure it",
      );
    }
    if (!texts.has("principal") && !("IDENTITY_ENDPOINT" in variables)) {
      process.stderr.write(`etagere: ${noManagedIdentity}\n`);
    }
    const shell = (texts.get("shell") ?? "sh") as Shell;
    process.stdout.write(environmentText(variables, shell));
    return 0;
  } catch (error) {
    return failWith(`${url}: ${messageOf(error)}`);
  }
}

function problemIn({
  texts,
  others,
}: {
  readonly texts: ReadonlyMap<string, string>;
  readonly others: readonly string[];
}): string | undefined {
  const shell = texts.get("shell") ?? "sh";
  if (!Object.hasOwn(shells, shell)) return `--shell: must be sh, powershell or json, got ${shell}`;
  if (texts.has("url") && texts.has("location")) return "--url contradicts --location";
  return others.length > 0 ? `unexpected word ${others[0]}` : undefined;
}

function failWith(problem: string): number {
  process.stderr.write(`etagere: ${problem}\n`);
  return 1;
}

async function fetchVariables(
  url: string,
  token: string | undefined,
  principal: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  const headers = { "x-etagere-admin": "1", ...authorization };
  const query = principal === undefined ? "" : `?${new URLSearchParams({ principal }).toString()}`;
  const response = await fetch(`${url}/admin/v1/identity/environment${query}`, { headers });
  if (!response.ok) throw new Error(await reasonOf(response));
  const { variables } = (await response.json()) as { variables: Readonly<Record<string, string>> };
  return variables;
}

async function reasonOf(response: Response): Promise<string> {
  const answer = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  const { message = "no reason given" } = answer.error ?? {};
  return `the admin listener answered ${response.status}: ${message}`;
}

type Variables = Readonly<Record<string, string>>;

/** How each shell sets variables. */
const shells = {
  sh: (variables: Variables) => lines(variables, (name, value) => `export ${name}=${inSh(value)}`),
  powershell: (variables: Variables) =>
    lines(variables, (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`),
  json: (variables: Variables) => `${JSON.stringify(variables, undefined, 2)}\n`,
} as const;

type Shell = keyof typeof shells;

export function environmentText(variables: Variables, shell: Shell): string {
  return shells[shell](variables);
}

function lines(variables: Variables, line: (name: string, value: string) => string): string {
  return Object.entries(variables)
    .map(([name, value]) => `${line(name, value)}\n`)
    .join("");
}

function inSh(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
