import { messageOf } from "../host/start-refused.ts";
import {
  addressOptions,
  findServer,
  tokenOption,
  type AddressValues,
  type ServerAddress,
} from "./admin-client.ts";
import { defineCommand } from "./command.ts";

export const envCommand = defineCommand({
  name: "env",
  summary: "print the variables for Azure's identity libraries",
  description: [
    "Prints IDENTITY_ENDPOINT and IDENTITY_HEADER of a running server, with which " +
      "DefaultAzureCredential gets its tokens, and the variables that name its certificate " +
      "authority if it was started with --https. They contain a secret. In sh: " +
      'eval "$(etagere env)"',
  ],
  arguments: [],
  actions: {},
  options: {
    ...addressOptions,
    ...tokenOption,
    principal: {
      kind: "name",
      value: "NAME",
      help:
        "AZURE_AUTHORITY_HOST, AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET of this " +
        "principal instead, with a data folder also AZURE_FEDERATED_TOKEN_FILE, for clients with " +
        "instance discovery disabled; the server needs --https",
    },
    shell: {
      kind: "choice",
      value: "SHELL",
      choices: ["sh", "powershell", "json"],
      help: "sh (default), powershell or json",
    },
  },
  exitCodes: ["the variables were printed", "no server responded or it issues no tokens"],
  example: "etagere env --shell powershell",
  run: ({ options }) => printEnvironment(options),
});

/** Printed beside variables of the certificate authority alone. */
const noManagedIdentity =
  "this server has no managed identity: configure one, or use --principal NAME (docs/IDENTITY.md)";

interface EnvOptions extends AddressValues {
  readonly principal: string | undefined;
  readonly shell: string | undefined;
}

async function printEnvironment(options: EnvOptions): Promise<number> {
  const { principal, shell = "sh" } = options;
  let url = "";
  try {
    const server = await findServer(options);
    if (server === undefined) return failWith(`no server uses ${options.location}`);
    url = `${server.url}: `;
    const variables = await fetchVariables(server, principal);
    if (Object.keys(variables).length === 0) {
      return failWith(
        "this server issues no tokens; docs/IDENTITY.md describes how to configure it",
      );
    }
    if (principal === undefined && !("IDENTITY_ENDPOINT" in variables)) {
      process.stderr.write(`etagere: ${noManagedIdentity}\n`);
    }
    process.stdout.write(environmentText(variables, shell as Shell));
    return 0;
  } catch (error) {
    return failWith(`${url}${messageOf(error)}`);
  }
}

function failWith(problem: string): number {
  process.stderr.write(`etagere: ${problem}\n`);
  return 1;
}

async function fetchVariables(
  { url, token }: ServerAddress,
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
