import { logIn } from "./admin/server.ts";
import type { Result } from "./result.ts";

const form = /^#login=([0-9a-f]{64})$/;

/** Exchanges the one-time token of a link for a session cookie. The token is first removed from the
 *  address bar and the history. Undefined if the address has no token. */
export async function takeLoginLink(): Promise<Result<unknown> | undefined> {
  const link = form.exec(location.hash)?.[1];
  if (link === undefined) return undefined;
  history.replaceState(null, "", location.pathname);
  return logIn({ link });
}
