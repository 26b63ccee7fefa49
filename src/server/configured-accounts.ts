import { openAccounts, type ServedAccounts } from "../data/accounts.ts";
import type { SettingsResult } from "../account/field-table.ts";
import { isLocal, oauthOf, webhookPrefixes, type Options } from "./options.ts";
import { accountsVariable } from "./secret-options.ts";

/** Reads the accounts and identities that the options and the environment of a server describe, for
 *  its start and for `etagere doctor`. Throws `StartRefused` if the file of a variable cannot be
 *  read. */
export async function openConfiguredAccounts(
  options: Options,
): Promise<SettingsResult<ServedAccounts>> {
  return openAccounts({
    config: options.config,
    given: options.accounts,
    identity: options.identity,
    isLocal: isLocal(options),
    oauth: oauthOf(options),
    variable: await accountsVariable(),
    hierarchicalNamespace: options.enableHierarchicalNamespace,
    noDevelopmentAccount: options.noDevelopmentAccount,
    webhookPrefixes: webhookPrefixes(options),
  });
}
