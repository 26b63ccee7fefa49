import { adminHeader } from "../admin/security/admin-auth.ts";
import { readSecretFile } from "../server/secret-options.ts";
import { readAdminAddress } from "../server/admin-address.ts";
import { defaultLocation, flagDefaults } from "../server/flags.ts";
import type { Options, Values } from "./command.ts";

/** The client of the admin API of a running server, through which most commands work. Also here:
 *  the options with which a command finds the server, by its data folder or its URL, and the token
 *  that authenticates the command. */

/** A request of the admin API. `path` begins with `/admin/v1/`; `body` is sent as JSON. */
export interface AdminCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
  /** How long the response may take; undefined: any time. */
  readonly timeoutMilliseconds?: number;
}

/** Thrown if no server responds at an address. */
export class NoServer extends Error {
  override readonly name = "NoServer";

  constructor(url: string, cause: unknown) {
    super(`no server responds at ${url}; choose one with --location or --url`, { cause });
  }
}

/** Calls the admin API of a server. Throws an error with the server's message if it rejects the
 *  call; resolves to undefined if the response has no body. */
export async function callAdmin(
  server: ServerAddress,
  { method, path, body, timeoutMilliseconds }: AdminCall,
): Promise<unknown> {
  const { url } = server;
  const headers = adminHeaders(server);
  if (method !== "GET") headers["content-type"] = "application/json";
  const signal =
    timeoutMilliseconds === undefined ? null : AbortSignal.timeout(timeoutMilliseconds);
  const sent = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}${path}`, sent).catch((error: unknown) => {
    throw new NoServer(url, error);
  });
  const text = await response.text();
  if (response.ok) return text === "" ? undefined : (JSON.parse(text) as unknown);
  throw new Error(messageIn(text) ?? `${url}: the admin listener answered ${response.status}`);
}

/** The headers of every call: the token, and one that the server requires because a page of another
 *  site cannot make a browser send it. */
export function adminHeaders({ token }: ServerAddress): Record<string, string> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { [adminHeader]: "1", ...authorization };
}

/** The error in the body of a response. */
interface AdminError {
  readonly code: string;
  readonly message: string;
}

/** How the user authenticates a command. */
const loginAdvice =
  "name the data folder of the server with --location, or a file with the admin token with " +
  "--tokenFile";

/** The message in the body of an error response, with advice if a login is required; undefined if
 *  the body has another form. */
export function messageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Partial<AdminError> };
    return error?.code === "LoginRequired" ? `${error.message}; ${loginAdvice}` : error?.message;
  } catch {
    return undefined;
  }
}

/** The options of every command that calls a server. */
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

/** The admin token on the command line, for commands that only read. Other users of the machine can
 *  see it there; commands that change something accept it in a file or a variable only. */
export const tokenOption = {
  token: {
    kind: "text",
    value: "TOKEN",
    help: "value of --adminToken; not needed if the data folder is readable",
  },
} as const satisfies Options;

/** The option of commands that can print their report as JSON (`Printed` in `command.ts`). */
export const jsonOption = {
  json: { kind: "switch", help: "print JSON" },
} as const satisfies Options;

/** The parsed values of `addressOptions`, and `token` where a command accepts it. */
type AddressValues = Values<typeof addressOptions> & Partial<Values<typeof tokenOption>>;

/** Address of the admin listener of a server, and the token for it. */
export interface ServerAddress {
  readonly url: string;
  readonly token?: string | undefined;
}

/** The server that the options name, with the admin token of the options, the environment or the
 *  data folder; undefined if no server uses the location. Without a location the default one is
 *  tried, then the default address. Throws if the token's file cannot be read. */
export async function findServer(given: AddressValues): Promise<ServerAddress | undefined> {
  const token = await givenToken(given);
  if (given.url !== undefined) return { url: given.url.replace(/\/$/, ""), token };
  const found = await readAdminAddress(given.location ?? defaultLocation);
  if (found !== undefined) return { ...found, token: token ?? found.token };
  if (given.location !== undefined) return undefined;
  return { url: `http://${flagDefaults.adminHost}:${flagDefaults.adminPort}`, token };
}

/** Like `findServer`, for commands that need a server: throws if no server uses the location. */
export async function requireServer(given: AddressValues): Promise<ServerAddress> {
  const server = await findServer(given);
  if (server !== undefined) return server;
  throw new Error(`no server uses ${given.location}, or this user may not read that folder`);
}

async function givenToken({ token, tokenFile }: AddressValues): Promise<string | undefined> {
  if (token !== undefined) return token;
  if (tokenFile === undefined) return process.env["ETAGERE_ADMIN_TOKEN"];
  const read = await readSecretFile(tokenFile);
  if (!read.ok) throw new Error(`--tokenFile: ${read.problems.join("; ")}`);
  return read.value;
}

/** Calls `onServer` if a server uses the location and responds, else `onStore`, which opens the
 *  data folder or the stores itself. Several processes may have a store open, so a server that
 *  starts during `onStore` does no harm. */
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
