import type { LoginLink } from "../admin/api-types.ts";
import { addressOptions, callAdmin, requireServer, type ServerAddress } from "./admin-client.ts";
import { defineCommand } from "./command.ts";

/** `etagere login`: prints a link with which the explorer, the web page of a server, opens without
 *  asking for a token. */
export const loginCommand = defineCommand({
  name: "login",
  summary: "print a link that opens the explorer",
  description: [
    "Prints a link to the explorer of a running server. If a login is required, the link " +
      "contains a token: it administers the server, works once, and expires after an hour.",
  ],
  options: addressOptions,
  exitCodes: ["the link was printed", "no server responded, or it refused"],
  example: "etagere login --location data",
  run: async ({ options }) => ({
    text: `${await explorerLink(await requireServer(options))}\n`,
  }),
});

/** A link to the explorer of a server; with a new token if a login is required. */
async function explorerLink(server: ServerAddress): Promise<string> {
  const path = "/admin/v1/session/links";
  const { link } = (await callAdmin(server, { method: "POST", path })) as LoginLink;
  return link === undefined ? `${server.url}/` : `${server.url}/#login=${link}`;
}

/** Runs a change of a server: the creation of the first account with a secret key makes the
 *  explorer require a login from then on. The result then has a link that logs in, because a page
 *  that is open in a browser can no longer load anything. */
export async function withLoginLink<T extends object>(
  server: ServerAddress,
  change: () => Promise<T>,
): Promise<T & { readonly explorerLink?: string }> {
  const before = await isLoginRequired(server);
  const result = await change();
  if (before || !(await isLoginRequired(server))) return result;
  return { ...result, explorerLink: await explorerLink(server) };
}

async function isLoginRequired(server: ServerAddress): Promise<boolean> {
  const session = await callAdmin(server, { method: "GET", path: "/admin/v1/session" });
  return (session as { readonly loginRequired: boolean }).loginRequired;
}
