import { readEvents } from "../account/event-log.ts";
import { accountIn } from "../account/subscription-changes.ts";
import {
  eventRetries,
  readState,
  readSubscriptions,
  retryPosition,
  subscriptions,
  subscriptionStates,
  type SubscriptionKey,
} from "../account/subscription.ts";
import type { Clock } from "../base/world.ts";
import type { Store, View } from "../store/store.ts";

/** Interval in which a wait looks again, in case the account of a subscription is replaced. */
const pollMilliseconds = 1000;

/** Resolves to true when every event that was committed before the call is delivered,
 *  dead-lettered or counted as dropped, for all subscriptions that are not paused; to false after
 *  `millisecondsMax`. Only the store is read: any process may deliver. */
export async function waitUntilSettled(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  millisecondsMax?: number,
): Promise<boolean> {
  const target = await store.snapshot(async ({ sequence }) => sequence);
  let raise = (): void => {};
  const wake = (): void => raise();
  let isLate = false;
  const watched = [subscriptionStates.prefix([]), subscriptions.prefix([])];
  const unwatch = watched.map((prefix) => store.watch(prefix, wake));
  const cancelEnd =
    millisecondsMax === undefined
      ? (): void => {}
      : clock.after(millisecondsMax, () => {
          isLate = true;
          wake();
        });
  try {
    for (;;) {
      const raised = new Promise<void>((resolve) => {
        raise = resolve;
      });
      if (await store.snapshot((view) => isSettled(view, target))) return true;
      if (isLate) return false;
      const cancel = clock.after(pollMilliseconds, wake);
      await raised;
      cancel();
    }
  } finally {
    cancelEnd();
    for (const end of unwatch) end();
  }
}

async function isSettled(view: View, target: number): Promise<boolean> {
  for (const key of await readSubscriptions(view)) {
    if (!(await isSettledFor(view, key, target))) return false;
  }
  return true;
}

/** Whether a subscription has passed all commits up to `target`, with nothing left to retry. */
async function isSettledFor(view: View, key: SubscriptionKey, target: number): Promise<boolean> {
  const owner = await accountIn(view, key.account);
  const state = await readState(view, key);
  if (owner === undefined || state === undefined || state.isPaused === true) return true;
  // A reset has removed the events; the delivery has not seen it yet.
  if (state.accountId !== owner.id) return false;
  const [next] = await readEvents(view, owner.id, state.position, 1);
  if (next !== undefined && next.position.sequence <= target) return false;
  const range = { ...eventRetries.range([key.account, key.name]), limit: 1 };
  const [retry] = await view.readHead(range);
  return retry === undefined || retryPosition(retry.key).sequence > target;
}
