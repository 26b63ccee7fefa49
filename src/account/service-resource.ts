import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { ok } from "../protocol/result.ts";
import type { Resource, LoadRequest } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import { accounts, type AccountRecord } from "./account-record.ts";

/** Everything that a request names lies in an account, which was checked to exist before. */
export function loadAccount(
  view: RecordView,
  { account }: Pick<LoadRequest, "account">,
): Awaitable<AccountRecord> {
  return mapAwaitable(view.get(accounts, account), (record) => {
    if (record === undefined) throw new Error(`the account ${account} has no record`);
    return record;
  });
}

const noRules: readonly CorsRule[] = [];

/** What browsers may do with a service of the account. */
export function corsRulesFor(
  service: ServiceName,
): (account: AccountRecord) => readonly CorsRule[] {
  return ({ properties }) => properties[service]?.cors ?? noRules;
}

/** The service itself, as it is set up in an account. Leases are on what is below it. */
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
