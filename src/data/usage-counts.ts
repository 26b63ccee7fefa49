import {
  correctUsage,
  quotaState,
  readLimited,
  type LimitedAccount,
} from "../account/account-quota.ts";
import { ticksPerDay, ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { ContentStore } from "../content/content.ts";
import { countOwned, ownerOfJob } from "../operation/owned-records.ts";
import { reclaimJobs } from "../operation/reclaim-jobs.ts";
import { Records } from "../operation/records.ts";
import type { RecordView } from "../operation/view.ts";
import { accountUsage, type Quotas } from "../operation/quotas.ts";
import { decodeCounter, type Store, type View } from "../store/store.ts";
import { recordTables } from "./services.ts";
import type { Background } from "./background.ts";

/** Counts the bytes of accounts with a quota, and passes changed quotas to the parts of this
 *  process that apply them. `data-stores.ts` runs both. */

interface UsageCountsOptions {
  readonly store: Store;
  readonly content: ContentStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Time between two counts of the same account. It bounds how long a wrong counter stays. */
const intervalTicks = ticksPerDay;
/** Time after which a failed first count is tried again. Until then the quota is not applied. */
const retryTicks = 60n * ticksPerSecond;
/** Time in which all processes have noticed a new quota. They count each write from then on, so a
 *  count that begins later misses none. */
const noticeTicks = 2n * ticksPerSecond;

/** Counts the bytes of accounts with a quota: of each once after the start, when it gets its quota,
 *  and every day. Each write changes the counter in its own transaction, so a count finds no
 *  difference unless bytes were stored before the quota was set, or by another program. */
export class UsageCounts {
  readonly #options: UsageCountsOptions;
  readonly #countedAt = new Map<bigint, Ticks>();
  /** When this process first saw each account whose bytes are not counted yet; the first count
   *  waits `noticeTicks` from then. */
  readonly #newSince = new Map<bigint, Ticks>();
  #revision: bigint | undefined;
  #limited: readonly LimitedAccount[] = [];

  constructor(options: UsageCountsOptions) {
    this.#options = options;
  }

  /** Counts one account that is due. Resolves to false if none is. */
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
    // Set before the count, which may fail: otherwise the next round would choose this account
    // again, and the accounts after it never.
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
      counterThen: decodeCounter(await view.get(accountUsage.key(id))),
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

/** Counts all bytes of an account in one state. Includes records that a reclaim job (a stored job
 *  that deletes records) has yet to remove, because the counter includes them until then. */
export async function countAccount(view: RecordView, account: bigint): Promise<number> {
  let bytes = await countOwned(view, recordTables, { kind: "account", id: account });
  for await (const batch of view.scan(reclaimJobs, reclaimJobs.range([]))) {
    for (const { record } of batch) {
      const owner = record.account === account ? ownerOfJob(record) : undefined;
      if (owner !== undefined) bytes += await countOwned(view, recordTables, owner);
    }
  }
  return bytes;
}

/** Keeps `quotas` up to date for SMB, copies and reclaim jobs, which do not read the account. */
export async function watchQuotas(store: Store, quotas: Quotas, log: Log): Promise<Background> {
  let revision: bigint | undefined;
  let isStopped = false;
  let reading: Promise<void> = Promise.resolve();
  const read = async (): Promise<void> => {
    if (isStopped) return;
    const found = await store.snapshot((view) => readLimited(view, revision));
    if (found === undefined) return;
    revision = found.revision;
    quotas.setLimits(new Map(found.limited.map(({ id, quota }) => [id, quota])));
  };
  let isQueued = false;
  const onChange = (): void => {
    if (isQueued) return;
    isQueued = true;
    const readNext = (): Promise<void> => {
      isQueued = false;
      return read();
    };
    reading = reading.then(readNext).catch((error: unknown) => {
      if (!isStopped) log.warn({ err: error }, "quotas not read; retrying after the next commit");
    });
  };
  await read();
  const unwatch = store.watch(quotaState.prefix([]), onChange, { isBackground: true });
  // Reads again, because a quota may have changed between the first read and the watch.
  onChange();
  return {
    async stop() {
      isStopped = true;
      unwatch();
      await reading;
    },
  };
}
