import { accounts } from "../../src/account/account-record.ts";
import { eventLog, readEvents, type EventRecord } from "../../src/account/event-log.ts";
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

/** Appends events of one blob to the event log of the development account. */
export function appendEvents(store: Store, count: number): Promise<void> {
  return store.transact(async (tx) => {
    const { id } = accounts.codec.decode((await tx.get(key))!);
    const event: EventRecord = {
      type: "BlobCreated",
      api: "PutBlob",
      time: tx.now,
      container: "box",
      path: "a",
    };
    const value = eventLog.codec.encode(event);
    for (let at = 0; at < count; at += 1) tx.append(eventLog.key(id), value);
  });
}
