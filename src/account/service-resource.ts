import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { ok } from "../protocol/result.ts";
import type { Resource, LoadRequest } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import { accounts, type AccountRecord } from "./account-record.ts";

/** Thrown if an account was changed or deleted after the request was authenticated. The request
 *  must be authenticated again: its key may have been replaced. */
export class AccountChanged extends Error {
  override readonly name = "AccountChanged";
}

/** Loads the record of the requested account. Throws `AccountChanged` if the settings with which
 *  the request was authenticated are not the present ones; checked in the transaction, because
 *  another process may change them at any time. */
export function loadAccount(
  view: RecordView,
  { account, features }: Pick<LoadRequest, "account" | "features">,
): Awaitable<AccountRecord> {
  return mapAwaitable(view.get(accounts, account), (record) => {
    if (record === undefined) throw new AccountChanged(`account ${account} has no record`);
    const used = features?.settingsRevision;
    if (used !== undefined && used !== record.stored?.revision) {
      throw new AccountChanged(`the settings of account ${account} were changed`);
    }
    return record;
  });
}

const noRules: readonly CorsRule[] = [];

/** Returns the function that reads the CORS rules of a service from an account record. */
export function corsRulesFor(
  service: ServiceName,
): (account: AccountRecord) => readonly CorsRule[] {
  return ({ properties }) => properties[service]?.cors ?? noRules;
}

/** The resource of operations on a service itself. Its target is the account record. It has no
 *  leases, so `leaseKind` has no effect. */
export function serviceResource(
  service: ServiceName,
  leaseKind: Resource["leaseKind"] = "container",
): Resource {
  const corsOf = corsRulesFor(service);
  return {
    load: (view, where) =>
      mapAwaitable(loadAccount(view, where), (account) => ({
        access: undefined,
        scope: ok({ account }),
        target: account,
        cors: corsOf(account),
      })),
    table: anyTable(accounts),
    keyOf: (_scope, { account }) => account,
    missing: "ResourceNotFound",
    present: "ResourceAlreadyExists",
    leaseKind,
  };
}
