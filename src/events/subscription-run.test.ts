import { beforeEach, expect, test } from "vitest";
import { simBlob, type SimBlob } from "../../tests/harness/sim-blob.ts";
import { eventLog, type EventRecord } from "../account/event-log.ts";
import { developmentAccountName } from "../account/settings.ts";
import { readAccount } from "../account/account-record.ts";
import { putSubscription } from "../account/subscription-changes.ts";
import {
  readState,
  readSubscriptions,
  retriesMax,
  type Destination,
  type Subscription,
} from "../account/subscription.ts";
import { messages, queues } from "../queue/records.ts";
import type { Store } from "../store/store.ts";
import type { DeliveredSubscription } from "./delivery-commit.ts";
import { SubscriptionRun, type SendEvent } from "./subscription-run.ts";

const key = { account: developmentAccountName, name: "hook" };
const webhook: Destination = { type: "webhook", url: "http://x/", schema: "EventGridSchema" };
const queue: Destination = { type: "queue", queue: "events" };
const appendedAtOnce = 1000;

let sim: SimBlob;
let subscription: DeliveredSubscription;

beforeEach(async () => {
  sim = await simBlob();
});

async function subscribe(destination: Destination): Promise<void> {
  const limits = { maxDeliveryAttempts: 30, eventTimeToLiveSeconds: 86_400 };
  const wanted: Subscription = { destination, ...limits };
  await putSubscription(sim.store, sim.runtime.random, { ...key, subscription: wanted });
  subscription = await sim.store.snapshot(async (view) => {
    const [{ record } = { record: undefined }] = await readSubscriptions(view);
    const account = await readAccount(view, key.account);
    return { ...key, record: record!, accountId: account!.id };
  });
}

/** Appends events of blobs `0`, `1` … to the log. */
async function append(count: number, pathOf = (at: number) => String(at)): Promise<void> {
  for (let from = 0; from < count; from += appendedAtOnce) {
    await sim.store.transact((tx) => {
      const end = Math.min(count, from + appendedAtOnce);
      for (let at = from; at < end; at += 1) {
        const event: EventRecord = {
          type: "BlobCreated",
          api: "PutBlob",
          time: tx.now,
          container: "box",
          path: pathOf(at),
          contentLength: at,
        };
        tx.append(eventLog.key(subscription.accountId), eventLog.codec.encode(event));
      }
    });
  }
}

function run(send: SendEvent | undefined, store = sim.store): SubscriptionRun {
  return new SubscriptionRun({
    runtime: { ...sim.runtime, store },
    log: sim.log,
    accounts: sim.http.accounts,
    subscription,
    source: { account: key.account, blobUrl: "http://b", fileUrl: "http://f" },
    deadLetterContainers: new Set(),
    send,
  });
}

const state = () => sim.store.snapshot((view) => readState(view, key));
const soon = { timeout: 30_000, interval: 5 };

test("a dead webhook has a bounded number of retries, and no event is lost", async () => {
  await subscribe(webhook);
  const count = retriesMax + 2000;
  await append(count);
  let isDead = true;
  let requests = 0;
  let requestsAtOnce = 0;
  let requestsAtOnceMax = 0;
  const delivered: number[] = [];
  const running = run(async ({ data }) => {
    requests += 1;
    requestsAtOnce += 1;
    requestsAtOnceMax = Math.max(requestsAtOnceMax, requestsAtOnce);
    await Promise.resolve();
    requestsAtOnce -= 1;
    if (isDead) return { reason: "connection refused", isFinal: false };
    delivered.push(data["contentLength"] as number);
    return undefined;
  });
  await expect.poll(async () => (await state())?.retries, soon).toBeGreaterThan(retriesMax - 1000);
  expect((await state())!.retries).toBeLessThanOrEqual(retriesMax);
  expect(requests).toBeLessThanOrEqual(retriesMax);
  expect(requestsAtOnceMax).toBeLessThanOrEqual(64);
  isDead = false;
  const deliveredLater = async () => {
    sim.clock.skip(15_000);
    return (await state())?.delivered;
  };
  await expect.poll(deliveredLater, { ...soon, interval: 50 }).toBe(count);
  expect(await state()).toMatchObject({ retries: 0, dropped: 0, deadLettered: 0 });
  expect(new Set(delivered).size).toBe(count);
  await running.stop();
}, 60_000);

test("events of one subject are sent one after another, others at the same time", async () => {
  await subscribe(webhook);
  await append(400, (at) => String(at % 4));
  const sending = new Set<string>();
  const delivered = new Map<string, number[]>();
  let atOnceMax = 0;
  const running = run(async ({ subject, data }) => {
    if (sending.has(subject)) throw new Error("two events of one subject at once");
    sending.add(subject);
    atOnceMax = Math.max(atOnceMax, sending.size);
    await Promise.resolve();
    sending.delete(subject);
    const own = delivered.get(subject) ?? [];
    delivered.set(subject, [...own, data["contentLength"] as number]);
    return undefined;
  });
  await expect.poll(async () => (await state())?.delivered, soon).toBe(400);
  expect(atOnceMax).toBe(4);
  for (const [at, own] of [...delivered.values()].entries()) {
    expect(own).toEqual(Array.from({ length: 100 }, (_, each) => each * 4 + at));
  }
  await running.stop();
});

test("an unexpected error of a request is no end of the delivery", async () => {
  await subscribe(webhook);
  await append(3);
  let requests = 0;
  const running = run(async () => {
    requests += 1;
    if (requests === 1) throw new Error("unexpected");
    return undefined;
  });
  const deliveredLater = async () => {
    sim.clock.skip(5000);
    return (await state())?.delivered;
  };
  await expect.poll(deliveredLater, soon).toBe(3);
  await running.stop();
});

test("an event that is committed while the log is being read is delivered", async () => {
  await subscribe(webhook);
  let snapshots = 0;
  // A database answers after other transactions have committed.
  const slow: Store = {
    transact: (work, options) => sim.store.transact(work, options),
    raiseSequence: (to) => sim.store.raiseSequence(to),
    watch: (...words) => sim.store.watch(...words),
    close: () => sim.store.close(),
    snapshot: (work) =>
      sim.store.snapshot(async (view) => {
        snapshots += 1;
        // The first one reads the state of the subscription, the second one the log.
        if (snapshots === 2) await append(1);
        return work(view);
      }),
  };
  const delivered: string[] = [];
  const running = run(async ({ subject }) => {
    delivered.push(subject);
    return undefined;
  }, slow);
  await expect.poll(() => delivered, soon).toHaveLength(1);
  await running.stop();
});

test("two processes that deliver at the same time put each event into the queue once", async () => {
  await subscribe(queue);
  const id = 7n;
  await sim.store.transact((tx) => {
    const owner = { account: subscription.accountId, name: "events" };
    tx.put(queues.key(owner), queues.codec.encode({ id, metadata: [], policies: [] }));
  });
  const running = [run(undefined), run(undefined)];
  await append(3000);
  await expect.poll(async () => (await state())?.delivered, soon).toBe(3000);
  await Promise.all(running.map((each) => each.stop()));
  const texts = await sim.store.snapshot(async (view) => {
    const found: string[] = [];
    for await (const entries of view.range(messages.range([id]))) {
      found.push(...entries.map(({ value }) => messages.codec.decode(value).text));
    }
    return found;
  });
  const lengths = texts.map((text) => {
    const event = JSON.parse(Buffer.from(text, "base64").toString()) as {
      data: { contentLength: number };
    };
    return event.data.contentLength;
  });
  expect(lengths).toEqual(Array.from({ length: 3000 }, (_, at) => at));
});
