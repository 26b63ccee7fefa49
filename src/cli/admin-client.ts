import { adminHeader } from "../admin/security/admin-auth.ts";
import { readSecretFile } from "../server/secret-options.ts";
import { readAdminAddress } from "../server/admin-address.ts";
import { defaultLocation, flagDefaults } from "../server/flags.ts";
import type { Options } from "./command.ts";

interface AdminCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
}

/** Thrown if no server responds at an address. */
export class NoServer extends Error {
  override readonly name = "NoServer";
}

/** Calls the admin API of a server. Throws an error with the server's message if it rejects the
 *  call; resolves to undefined if the response has no body. */
export async function callAdmin(
  { url, token }: ServerAddress,
  { method, path, body }: AdminCall,
): Promise<unknown> {
  const headers: Record<string, string> = { [adminHeader]: "1" };
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (method !== "GET") headers["content-type"] = "application/json";
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}${path}`, sent).catch((error: unknown) => {
    const problem = `no server responds at ${url}; choose one with --location or --url`;
    throw new NoServer(problem, { cause: error });
  });
  const text = await response.text();
  if (response.ok) return text === "" ? undefined : (JSON.parse(text) as unknown);
  throw new Error(messageIn(text) ?? `${url}: the admin listener answered ${response.status}`);
}

/** The message of an error response; undefined if it has none. */
export function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: string } };
    return error?.message;
  } catch {
    return undefined;
  }
}

/** Options of every command that calls a server. */
export const addressOptions = {
  location: {
    kind: "folder",
    short: "l",
    value: "FOLDER",
    help: "the server that uses this data folder, or the folder itself (.etagere)",
  },
  url: {
    kind: "http",
    value: "URL",
    excludes: ["location"],
    help: "address of the admin listener, for example http://127.0.0.1:10010",
  },
  tokenFile: {
    kind: "file",
    value: "FILE",
    help:
      "file with the admin token, or the variable ETAGERE_ADMIN_TOKEN; not needed if the data " +
      "folder is readable",
  },
} as const satisfies Options;

/** Option of commands that only read, for which a token on the command line may do. */
export const tokenOption = {
  token: {
    kind: "text",
    value: "TOKEN",
    help: "value of --adminToken; not needed if the data folder is readable",
  },
} as const satisfies Options;

/** Option of commands that print a report. */
export const jsonOption = {
  json: { kind: "switch", help: "print JSON" },
} as const satisfies Options;

/** Values of `addressOptions`, and the token itself where a command accepts it. */
export interface AddressValues {
  readonly location: string | undefined;
  readonly url: string | undefined;
  readonly token?: string | undefined;
  readonly tokenFile: string | undefined;
}

/** Where the admin listener of a server is. */
export interface ServerAddress {
  readonly url: string;
  readonly token?: string | undefined;
}

/** The server that the options name, with the admin token of the options, the environment or the
 *  data folder; undefined if no server uses the location. Without a location the default one is
 *  tried, then the default address. Throws if the token's file cannot be read. */
export async function findServer(given: AddressValues): Promise<ServerAddress | undefined> {
  const token = await givenToken(given);
  if (given.url !== undefined) return { url: given.url, token };
  const found = await readAdminAddress(given.location ?? defaultLocation);
  if (found !== undefined) return { ...found, token: token ?? found.token };
  if (given.location !== undefined) return undefined;
  return { url: `http://${flagDefaults.adminHost}:${flagDefaults.adminPort}`, token };
}

async function givenToken({ token, tokenFile }: AddressValues): Promise<string | undefined> {
  if (token !== undefined) return token;
  if (tokenFile === undefined) return process.env["ETAGERE_ADMIN_TOKEN"];
  const read = await readSecretFile(tokenFile);
  if (!read.ok) throw new Error(`--tokenFile: ${read.problems.join("; ")}`);
  return read.value;
}

/** Uses the server of the location if one responds, else the folder or the stores themselves:
 *  several processes may open them, so a server that starts meanwhile does no harm. */
export async function onServerOrStore<T>(
  given: AddressValues,
  {
    onServer,
    onStore,
  }: {
    readonly onServer: (server: ServerAddress) => Promise<T>;
    readonly onStore: () => Promise<T>;
  },
): Promise<T> {
  const server = await findServer(given);
  if (server === undefined) return onStore();
  try {
    return await onServer(server);
  } catch (error) {
    if (!(error instanceof NoServer) || given.url !== undefined) throw error;
    return onStore();
  }
}
