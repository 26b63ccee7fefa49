import type { AnyTable } from "../encoding/table.ts";
import { encodeTaggedKey } from "../encoding/keys.ts";

/** The byte quota of an account, in its record. An account without a quota is not counted. */
export interface AccountQuota {
  readonly quotaBytes: number;
  /** Whether the counter has all bytes of the account. False from the time that a quota is set on
   *  an account with data until a background task has counted them; meanwhile every write is
   *  counted and none rejected. */
  readonly isCounted: boolean;
}

/** What the scope of every operation has: the record of the account. */
export interface AccountInScope {
  readonly account?: { readonly id: bigint; readonly quota?: AccountQuota | undefined };
}

const usageTag = 0x07;

/** Key of the counter of the bytes that an account stores. A counter is added to without being
 *  read, so that writers do not conflict. */
export function accountUsage(account: bigint): Uint8Array {
  return encodeTaggedKey(usageTag, [account]);
}

/** The bytes that an attempt of a transaction adds to an account with a quota. */
export class UsageChange {
  readonly account: bigint;
  readonly quota: AccountQuota;
  /** Negative if the transaction frees bytes. */
  bytes = 0;

  constructor(account: bigint, quota: AccountQuota) {
    this.account = account;
    this.quota = quota;
  }

  /** Counts the change of a record; undefined if it did not exist or exists no more. */
  count(table: AnyTable, before: object | undefined, after: object | undefined): void {
    const { countedBytes } = table;
    if (countedBytes === undefined) return;
    if (before !== undefined) this.bytes -= countedBytes(before);
    if (after !== undefined) this.bytes += countedBytes(after);
  }
}

/** The change of an operation in this scope; undefined if its account has no quota. Operations of
 *  one transaction share the change in `shared`. */
export function usageIn(
  scope: object,
  shared?: { usage?: UsageChange | undefined },
): UsageChange | undefined {
  const { account }: AccountInScope = scope;
  if (account?.quota === undefined) return undefined;
  if (shared === undefined) return new UsageChange(account.id, account.quota);
  shared.usage ??= new UsageChange(account.id, account.quota);
  return shared.usage;
}
