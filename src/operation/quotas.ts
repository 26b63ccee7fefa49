import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import { decodeCounter, type Transaction } from "../store/store.ts";
import { defineCounter, type AnyTable } from "../encoding/table.ts";

/** Quotas: the most bytes that an account may store. Each attempt of a transaction counts the bytes
 *  that it adds (`UsageChange`, `apply.ts`); at its end `settleUsage` decides whether they fit
 *  (`work.ts`). */

/** The byte quota of an account, in its record. An account without a quota is not counted. */
export interface AccountQuota {
  readonly quotaBytes: number;
  /** Whether the counter has all bytes of the account. False from the time that a quota is set on
   *  an account with data until a background task (`data/usage-counts.ts`) has counted them. Until
   *  then every write is counted and none is rejected. */
  readonly isCounted: boolean;
}

/** The part of every scope that quotas read: the record of the account. */
interface AccountInScope {
  readonly account?: {
    readonly id: bigint;
    readonly quota?: AccountQuota | undefined;
    readonly events?: object | undefined;
  };
}

/** Whether the account has an event log, to which its changes must be appended. */
export function hasEventLog(scope: object): boolean {
  const { account }: AccountInScope = scope;
  return account?.events !== undefined;
}

/** The bytes that an account stores. Only accounts with a quota are counted. */
export const accountUsage = defineCounter({
  name: "bytes of account",
  tag: 0x07,
  owner: "account",
  isSum: false,
});

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

/** Returns an object that sums the bytes that one attempt adds to the account in `scope` (the
 *  records above the target of its operation); undefined if the account has no quota. */
export function usageIn(scope: object): UsageChange | undefined {
  const { account }: AccountInScope = scope;
  return account?.quota && new UsageChange(account.id, account.quota);
}

/** Thrown inside a transaction that would take an account above its quota; nothing is written. */
export class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";
}

/** The usage of an account as this process knows it: not every write reads the counter. */
interface Gauge {
  /** The counter at the time of the last reading. */
  used: number;
  readAt: Ticks | undefined;
  /** Bytes that this process has admitted and that the last reading may lack: since then, or not
   *  yet committed at that time. */
  unread: number;
  /** Bytes of transactions that this process has admitted and that have not ended. */
  inFlight: number;
}

/** The bytes with which a transaction in progress was admitted, and the gauge that counts them. */
interface Admitted {
  readonly gauge: Gauge;
  readonly bytes: number;
}

/** Bytes that a process may admit before it reads the counter again. The quota can be exceeded by
 *  this much for each process. */
const unreadBytesMax = 8 * 1024 * 1024;
/** A process uses at most this part of the free bytes without a validated read, whose transaction
 *  conflicts if the counter changes. Otherwise several processes together could exceed the
 *  quota. */
const freePart = 1 / 16;
/** Age from which the counter is read again, because other processes may have written. */
const readingTicksMax = ticksPerSecond;

/** Admits writes to accounts with a quota. A transaction must not read the counter of its account
 *  with validation: then all writes to the account would conflict with each other. Most writes are
 *  therefore admitted from a recent reading; others read the counter without validation. Only if
 *  the free bytes are few, compared with what this process writes, the read is validated, which
 *  makes the decision exact. */
export class Quotas {
  readonly #gauges = new Map<bigint, Gauge>();
  readonly #admitted = new Map<object, Admitted>();
  #limits: ReadonlyMap<bigint, AccountQuota> = new Map();

  /** The quota of an account, as far as this process knows; undefined if it has none. For
   *  transactions that do not read the account's record. */
  limitOf(account: bigint): AccountQuota | undefined {
    return this.#limits.get(account);
  }

  /** Returns the counter for the bytes of a transaction that does not read the account's record;
   *  undefined if the account has no quota. */
  usageOf(account: bigint | undefined): UsageChange | undefined {
    if (account === undefined || this.#limits.size === 0) return undefined;
    const quota = this.#limits.get(account);
    return quota && new UsageChange(account, quota);
  }

  setLimits(limits: ReadonlyMap<bigint, AccountQuota>): void {
    this.#limits = limits;
    for (const account of this.#gauges.keys()) {
      if (!limits.has(account)) this.#gauges.delete(account);
    }
  }

  /** Throws `QuotaExceeded` if the change does not fit. `request` identifies the transaction, whose
   *  attempts replace each other; `release` must follow when it has ended. */
  async admit(tx: Transaction, change: UsageChange, request: object): Promise<void> {
    this.release(request);
    const { account, bytes, quota } = change;
    const gauge = this.#gaugeOf(account);
    if (!isReadingEnough(gauge, change, tx.now)) {
      const used = Number(decodeCounter(await tx.peek(accountUsage.key(account))));
      Object.assign(gauge, { used, readAt: tx.now, unread: gauge.inFlight });
      const isFarBelow = gauge.inFlight + bytes <= (quota.quotaBytes - used) * freePart;
      if (!isFarBelow) await admitExactly(tx, change);
    }
    gauge.unread += bytes;
    gauge.inFlight += bytes;
    this.#admitted.set(request, { gauge, bytes });
  }

  /** Called when the transaction was committed or has failed. */
  release(request: object): void {
    if (this.#admitted.size === 0) return;
    const admitted = this.#admitted.get(request);
    if (admitted === undefined) return;
    this.#admitted.delete(request);
    admitted.gauge.inFlight -= admitted.bytes;
  }

  #gaugeOf(account: bigint): Gauge {
    const found = this.#gauges.get(account);
    if (found !== undefined) return found;
    const gauge: Gauge = { used: 0, readAt: undefined, unread: 0, inFlight: 0 };
    this.#gauges.set(account, gauge);
    return gauge;
  }
}

function isReadingEnough(gauge: Gauge, { bytes, quota }: UsageChange, now: Ticks): boolean {
  const { used, readAt, unread } = gauge;
  if (readAt === undefined || now - readAt > readingTicksMax) return false;
  const mayUse = Math.min(unreadBytesMax, (quota.quotaBytes - used) * freePart);
  return unread + bytes <= mayUse;
}

/** Admits a change by a read of the counter that is validated at commit. The decision is exact, but
 *  conflicts with every concurrent write to the account. */
async function admitExactly(tx: Transaction, change: UsageChange): Promise<void> {
  const { account, bytes, quota } = change;
  const used = Number(decodeCounter(await tx.get(accountUsage.key(account))));
  if (used + bytes > quota.quotaBytes) {
    throw new QuotaExceeded(`${bytes} bytes more than ${used} exceed ${quota.quotaBytes}`);
  }
}

/** A transaction whose added bytes are to be admitted and counted. */
interface UsageTransaction {
  /** Identifies the transaction, for `Quotas.release`. */
  readonly request: object;
  /** Whether it may exceed the quota: deletions and what must precede them. */
  readonly isExempt: boolean;
}

/** Adds a change to the counter of its account, at the end of an attempt. Throws `QuotaExceeded`
 *  if it does not fit; then nothing of the transaction is written. */
export async function settleUsage(
  quotas: Quotas | undefined,
  tx: Transaction,
  change: UsageChange,
  { request, isExempt }: UsageTransaction,
): Promise<void> {
  const { account, bytes, quota } = change;
  if (bytes === 0) return;
  if (bytes > 0 && quota.isCounted && !isExempt) {
    await (quotas === undefined ? admitExactly(tx, change) : quotas.admit(tx, change, request));
  }
  tx.add(accountUsage.key(account), BigInt(bytes));
}
