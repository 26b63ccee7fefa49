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
    text: `${await requestLink(await requireServer(options))}\n`,
  }),
});

/** A link to the explorer of a server; with a new token if a login is required. */
async function requestLink(server: ServerAddress): Promise<string> {
  const path = "/admin/v1/session/links";
  return explorerLink(server, (await callAdmin(server, { method: "POST", path })) as LoginLink);
}

/** The address of the explorer of a server, with the token of a login link if there is one. */
export function explorerLink({ url }: ServerAddress, { link }: LoginLink): string {
  return link === undefined ? `${url}/` : `${url}/#login=${link}`;
}
