import { writeFileSync } from "node:fs";
import { accounts } from "./wire.ts";

/** The option with which a server of a folder has both accounts. */
export function accountsOption(location: string): string {
  const config = `${location}-accounts.json`;
  writeFileSync(config, JSON.stringify({ accounts }));
  return `--config=${config}`;
}
