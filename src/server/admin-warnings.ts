import { isLoopback } from "../admin/security/same-origin.ts";
import { developmentAccountKey, type Accounts } from "../account/settings.ts";
import type { Log, Random } from "../base/world.ts";
import type { Options } from "./options.ts";

export interface AdminExposure {
  readonly options: Pick<Options, "adminHost">;
  readonly accounts: Accounts;
  readonly log: Log;
  readonly isEncrypted: boolean;
}

/** Warns about secrets exposed by an admin listener that other machines can reach. */
export function warnOfExposure({ options, accounts, log, isEncrypted }: AdminExposure): void {
  if (isLoopback(options.adminHost)) return;
  if (!isEncrypted) {
    log.warn({ host: options.adminHost }, "admin logins are not encrypted; set --cert and --key");
  }
  if (hasPublishedKey(accounts)) {
    log.warn({}, "the development account has a published key; configure other accounts");
  }
}

function hasPublishedKey(accounts: Accounts): boolean {
  const isPublished = (name: string): boolean =>
    accounts.get(name)?.keys.includes(developmentAccountKey) === true;
  return accounts.names().some(isPublished);
}

const tokenBytes = 32;

/** A token for `admin.json`, by which programs that can read the data folder log in. */
export function newAdminToken(random: Random): string {
  return Buffer.from(random.bytes(tokenBytes)).toString("hex");
}
