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

/** Logs what an admin listener that other machines reach gives away. */
export function warnOfExposure({ options, accounts, log, isEncrypted }: AdminExposure): void {
  if (isLoopback(options.adminHost)) return;
  if (!isEncrypted) {
    log.warn({ host: options.adminHost }, "logins to the explorer are not encrypted: give cert");
  }
  if (hasPublishedKey(accounts)) {
    log.warn({}, "the key of the development account is published: give accounts of your own");
  }
}

function hasPublishedKey(accounts: Accounts): boolean {
  const isPublished = (name: string): boolean =>
    accounts.get(name)?.keys.includes(developmentAccountKey) === true;
  return accounts.names().some(isPublished);
}

const tokenBytes = 32;

/** Lets programs in that can read the data folder. */
export function newAdminToken(random: Random): string {
  return Buffer.from(random.bytes(tokenBytes)).toString("hex");
}
