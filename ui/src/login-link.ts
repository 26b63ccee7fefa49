import { logIn } from "./admin/server.ts";
import type { Result } from "./result.ts";

const loginFragment = /^#login=([0-9a-f]{64})$/;

/** Logs in with the one-time token in the fragment of the address (`#login=…`); the response sets
 *  the session cookie. Before that, removes the token, and the query string, from the address bar
 *  and the history. Undefined if the address has no token. */
export async function logInFromAddress(): Promise<Result<unknown> | undefined> {
  const link = loginFragment.exec(location.hash)?.[1];
  if (link === undefined) return undefined;
  history.replaceState(null, "", location.pathname);
  return logIn({ link });
}
