import { addressOptions, callAdmin, requireServer, tokenOption } from "./admin-client.ts";
import { defineCommand, type Options, type Values } from "./command.ts";

/** `etagere env`: prints the environment variables with which Azure's client libraries get tokens
 *  from a running server, instead of from Microsoft Entra ID. */

const envOptions = {
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
} as const satisfies Options;

export const envCommand = defineCommand({
  name: "env",
  summary: "print the variables for Azure's identity libraries",
  description: [
    "Prints IDENTITY_ENDPOINT and IDENTITY_HEADER of a running server, with which " +
      "DefaultAzureCredential gets its tokens, and the variables that name its certificate " +
      "authority if it was started with --https. They contain a secret. In sh: " +
      'eval "$(etagere env)"',
  ],
  options: envOptions,
  exitCodes: ["the variables were printed", "no server responded or it issues no tokens"],
  example: "etagere env --shell powershell",
  run: async ({ options }) => ({ text: await environmentOf(options) }),
});

/** Printed on standard error if the server issues tokens to configured principals only. The printed
 *  variables then name just its certificate authority. */
const noManagedIdentity =
  "this server has no managed identity: configure one, or use --principal NAME (docs/IDENTITY.md)";

async function environmentOf(options: Values<typeof envOptions>): Promise<string> {
  const { principal, shell = "sh" } = options;
  const server = await requireServer(options);
  const query = principal === undefined ? "" : `?${new URLSearchParams({ principal }).toString()}`;
  const path = `/admin/v1/identity/environment${query}`;
  const { variables } = (await callAdmin(server, { method: "GET", path })) as {
    readonly variables: Variables;
  };
  if (Object.keys(variables).length === 0) {
    throw new Error("this server issues no tokens; docs/IDENTITY.md describes how to configure it");
  }
  if (principal === undefined && !("IDENTITY_ENDPOINT" in variables)) {
    process.stderr.write(`etagere: ${noManagedIdentity}\n`);
  }
  return environmentText(variables, shell as Shell);
}

type Variables = Readonly<Record<string, string>>;

/** Renders the variables for each value of `--shell`. */
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
