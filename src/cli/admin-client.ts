import { adminHeader } from "../admin/security/admin-auth.ts";
import { readSecretFile } from "../server/secret-options.ts";
import { readAdminAddress } from "../server/admin-address.ts";
import { defaultLocation, flagDefaults } from "../server/flags.ts";

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

interface TokenOptions {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** The admin token that the options or the environment name; undefined if they do not. Throws if
 *  the file cannot be read. */
export async function adminTokenOf({
  token,
  tokenFile,
}: TokenOptions): Promise<string | undefined> {
  if (token !== undefined) return token;
  if (tokenFile === undefined) return process.env["ETAGERE_ADMIN_TOKEN"];
  const read = await readSecretFile(tokenFile);
  if (!read.ok) throw new Error(`--tokenFile: ${read.problems.join("; ")}`);
  return read.value;
}

/** Where the admin listener of a server is. */
export interface ServerAddress {
  readonly url: string;
  /** The local admin token from the server's data folder. */
  readonly token?: string | undefined;
}

/** Finds the server that uses a location. Without a location, the default one is tried, then the
 *  default address. */
export async function findServer(location: string | undefined): Promise<ServerAddress | undefined> {
  const found = await readAdminAddress(location ?? defaultLocation);
  if (found !== undefined || location !== undefined) return found;
  return { url: `http://${flagDefaults.adminHost}:${flagDefaults.adminPort}` };
}
