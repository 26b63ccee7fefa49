import { correctUsage, readLimited, type LimitedAccount } from "../../account/account-quota.ts";
import { ticksPerDay, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import type { ContentStore } from "../../content/content.ts";
import { Records } from "../../operation/records.ts";
import { accountUsage } from "../../operation/usage.ts";
import { decodeCounter } from "../../store/counter.ts";
import type { Store, View } from "../../store/store.ts";
import { countAccount } from "./count-account.ts";

export interface UsageCountsOptions {
  readonly store: Store;
  readonly content: ContentStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Time between two counts of the same account. */
const intervalTicks = ticksPerDay;
/** Time after a failed first count. */
const retryTicks = 60n * ticksPerSecond;
/** Time in which all processes have noticed a new quota, so that they count all writes after it. */
const noticeTicks = 2n * ticksPerSecond;

/** Counts the bytes of accounts with a quota: of each once after the start, when it gets its quota,
 *  and every day. Each write changes the counter in its own transaction, so a count finds no
 *  difference unless bytes were stored before the quota was set, or by another program. */
export class UsageCounts {
  readonly #options: UsageCountsOptions;
  readonly #countedAt = new Map<bigint, Ticks>();
  /** When accounts were first seen whose bytes are not counted yet. */
  readonly #newSince = new Map<bigint, Ticks>();
  #revision: bigint | undefined;
  #limited: readonly LimitedAccount[] = [];

  constructor(options: UsageCountsOptions) {
    this.#options = options;
  }

  /** Counts one account that is due. Resolves to false if there was none. */
  async countNext(): Promise<boolean> {
    const { store, clock } = this.#options;
    const now = clock.monotonic();
    const read = await store.snapshot((view) => readLimited(view, this.#revision));
    if (read !== undefined) {
      this.#revision = read.revision;
      this.#limited = read.limited;
    }
    const due = this.#limited.find((account) => this.#isDue(account, now));
    if (due === undefined) return false;
    // Also after a failure, so that one account does not keep the others from being counted.
    this.#countedAt.set(due.id, now);
    await this.#count(due);
    return true;
  }

  #isDue({ id, quota }: LimitedAccount, now: Ticks): boolean {
    const countedAt = this.#countedAt.get(id);
    if (quota.isCounted) {
      this.#newSince.delete(id);
      return countedAt === undefined || now - countedAt > intervalTicks;
    }
    const newSince = this.#newSince.get(id);
    if (newSince === undefined) this.#newSince.set(id, now);
    if (newSince === undefined || now - newSince < noticeTicks) return false;
    return countedAt === undefined || countedAt < newSince || now - countedAt > retryTicks;
  }

  async #count(account: LimitedAccount): Promise<void> {
    const { store, content, log } = this.#options;
    const { id, name, quota } = account;
    const count = async (view: View) => ({
      counterThen: decodeCounter(await view.get(accountUsage(id))),
      counted: BigInt(await countAccount(new Records(view, content), id)),
    });
    const found = await store.snapshot(count, { isUnlimited: true });
    await correctUsage(store, account, found);
    const difference = found.counted - found.counterThen;
    if (quota.isCounted && difference !== 0n) {
      log.warn({ account: name, bytes: String(difference) }, "counted bytes of account corrected");
    }
  }
}
