import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { preflightHeaders, type CorsRule } from "../protocol/cors.ts";
import type { ServiceName } from "../protocol/names.ts";
import { ok } from "../protocol/result.ts";
import {
  defineResource,
  type Access,
  type LoadRequest,
  type Resource,
} from "../operation/service.ts";
import { isNameReserved } from "./deleted-names.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import {
  accounts,
  accountsState,
  type AccountRecord,
  type AccountScope,
} from "./account-record.ts";
import { noETag, operationsOf, type Address } from "../operation/operation.ts";
import { header, text } from "../protocol/params.ts";

/** What every service loads first: the record of the account of a request. Also the resource
 *  `service`, which is the target of Get Service Properties and similar operations, and the
 *  preflight request of browsers. */

/** Thrown if an account was changed or deleted after the request was authenticated. The request
 *  must be authenticated again: its key may have been replaced. */
export class AccountChanged extends Error {
  override readonly name = "AccountChanged";
}

/** Loads the record of the requested account. Throws `AccountChanged` if the settings with which
 *  the request was authenticated, or the roles of its caller, are not the present ones; checked in
 *  the transaction, because another process may change them at any time. */
export function loadAccount(
  view: RecordView,
  request: Pick<LoadRequest, "account" | "features" | "identityRevision">,
): Awaitable<AccountRecord> {
  const { identityRevision } = request;
  if (identityRevision === undefined) return loadRecord(view, request);
  return mapAwaitable(view.get(accountsState, "identity"), (state) => {
    if ((state?.revision ?? 0n) !== identityRevision) {
      throw new AccountChanged("principals or role assignments were changed");
    }
    return loadRecord(view, request);
  });
}

function loadRecord(
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

/** What distinguishes the records that an account has by name: containers, queues, tables and
 *  shares. */
interface NamedRecords<A extends Address> extends Pick<
  Resource<A>,
  "table" | "missing" | "present" | "reserved" | "leaseKind" | "guard"
> {
  readonly service: ServiceName;
  /** The name in an address, in the case in which names are compared. */
  readonly nameOf: (address: A) => string;
  /** Reads the record, whose access policies apply to it and to all below it; undefined if there is
   *  none. */
  readonly find: (
    view: RecordView,
    key: { readonly account: bigint; readonly name: string },
  ) => Awaitable<object | undefined>;
}

/** The resource of containers, queues, tables or shares. For a name without a record, `load` also
 *  returns whether the name is reserved since a deletion. */
export function namedResource<A extends Address>(records: NamedRecords<A>): Resource {
  const { service, nameOf, find, ...rules } = records;
  const corsOf = corsRulesFor(service);
  return defineResource<A>({
    ...rules,
    keyOf: (scope, { address }) => {
      return { account: (scope as AccountScope).account.id, name: nameOf(address) };
    },
    load: (view, request) =>
      mapAwaitable(loadAccount(view, request), (account) => {
        const key = { account: account.id, name: nameOf(request.address) };
        return mapAwaitable(find(view, key), (target) => {
          const access = target as Access | undefined;
          const loaded = { access, scope: ok({ account }), target, cors: corsOf(account) };
          if (target !== undefined) return loaded;
          const reserved = isNameReserved(view, request, { ...key, service });
          return mapAwaitable(reserved, (is) => ({ ...loaded, isNameReserved: is }));
        });
      }),
  });
}

interface ServiceResource {
  readonly [name: string]: { scope: object; target: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
}

/** Declares an operation whose target is the service itself. Each service has operations of this
 *  kind (Get Service Properties). */
export const serviceOperation = operationsOf<ServiceResource, Address>("2009-09-19");

/** Declares the preflight request that browsers send before a cross-origin request. It depends only
 *  on the CORS rules of the service, not on credentials or on the path. */
export function declarePreflight(service: ServiceName, name: string) {
  return serviceOperation({
    name,
    ids: ["Preflight"],
    route: { method: "OPTIONS", resource: "service" },
    since: "2013-08-15",
    params: {
      origin: header("origin", text),
      method: header("access-control-request-method", text),
      requestHeaders: header("access-control-request-headers", text),
    },
    permission: { resourceType: "sco", allowsAnonymous: true },
    target: "must-exist",
    ...noETag,
    decide: ({ target, input }) => {
      const headers = preflightHeaders(target.properties[service]?.cors ?? [], input);
      return headers.ok ? { headers: headers.value } : headers;
    },
  });
}
