import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { ok } from "../protocol/result.ts";
import type { Resource, LoadRequest } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import { accounts, type AccountRecord } from "./account-record.ts";

/** Loads the record of the requested account; the pipeline has checked before that the account is
 *  configured. */
export function loadAccount(
  view: RecordView,
  { account }: Pick<LoadRequest, "account">,
): Awaitable<AccountRecord> {
  return mapAwaitable(view.get(accounts, account), (record) => {
    if (record === undefined) throw new Error(`account ${account} is configured but has no record`);
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
