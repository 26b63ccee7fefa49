import { accounts } from "../../src/account/account-record.ts";
import { readEvents, type EventRecord } from "../../src/account/event-log.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import type { Store } from "../../src/store/store.ts";

const key = accounts.key(developmentAccountName);

/** Gives the development account an event log, as a subscription does. */
export function startEventLog(store: Store): Promise<void> {
  return store.transact(async (tx) => {
    const record = accounts.codec.decode((await tx.get(key))!);
    tx.put(key, accounts.codec.encode({ ...record, events: { subscriptions: 1 } }));
  });
}

/** The events of the development account, in commit order. */
export function loggedEvents(store: Store): Promise<readonly EventRecord[]> {
  return store.snapshot(async (view) => {
    const { id } = accounts.codec.decode((await view.get(key))!);
    const logged = await readEvents(view, id, undefined, 1000);
    return logged.map(({ event }) => event);
  });
}
