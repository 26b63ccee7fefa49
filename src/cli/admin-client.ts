import { adminHeader } from "../admin/security/admin-auth.ts";
import type { ServerAddress } from "./find-server.ts";

export interface AdminCall {
  readonly method: "GET" | "POST" | "DELETE";
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
