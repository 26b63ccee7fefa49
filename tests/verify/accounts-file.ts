import { writeFileSync } from "node:fs";
import { accounts, accountsWith } from "./wire.ts";

/** The option with which a server of a folder has the accounts; with a webhook also the one whose
 *  events it gets. */
export function accountsOption(location: string, webhook?: string): string {
  const config = `${location}-accounts.json`;
  const chosen = webhook === undefined ? accounts : accountsWith(webhook);
  writeFileSync(config, JSON.stringify({ accounts: chosen }));
  return `--config=${config}`;
}
