import { quotaState, readLimited } from "../../account/account-quota.ts";
import type { Log } from "../../base/world.ts";
import type { Quotas } from "../../operation/quotas.ts";
import type { Store } from "../../store/store.ts";
import type { Background } from "../background.ts";

/** Keeps the quotas up to date that this process knows without reading the record of an account:
 *  for SMB, copies and reclaim jobs. */
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
  const unwatch = store.watch(quotaState.prefix([]), onChange);
  // A change between the read and the watch.
  onChange();
  return {
    async stop() {
      isStopped = true;
      unwatch();
      await reading;
    },
  };
}
