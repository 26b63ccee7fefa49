import { beforeEach, expect, test } from "vitest";
import { accounts } from "../../src/account/account-record.ts";
import { readEvents } from "../../src/account/event-log.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import { deleteSubscription, putSubscription } from "../../src/account/subscription-changes.ts";
import {
  readState,
  subscriptionStates,
  type Subscription,
} from "../../src/account/subscription.ts";
import { LogRetention, type LogLimits } from "../../src/events/log-retention.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

const key = { account: developmentAccountName, name: "hook" };
const subscription: Subscription = {
  destination: { type: "webhook", url: "http://127.0.0.1:1/", schema: "EventGridSchema" },
  subjectEndsWith: ".txt",
  deadLetterContainer: "dead",
  maxDeliveryAttempts: 30,
  eventTimeToLiveSeconds: 86_400,
};
const dayMilliseconds = 86_400_000;

let sim: SimBlob;
let id: bigint;

beforeEach(async () => {
  sim = await simBlob();
  await sim.send({ method: "PUT", path: "/box?restype=container" });
  await putSubscription(sim.store, sim.runtime.random, { ...key, subscription });
  const value = await sim.store.snapshot((view) => view.get(accounts.key(key.account)));
  id = accounts.codec.decode(value!).id;
});

async function put(name: string): Promise<void> {
  const headers = { "x-ms-blob-type": "BlockBlob" };
  await sim.send({ method: "PUT", path: `/box/${name}`, body: "x", headers });
}

function retention(limits: Partial<LogLimits> = {}): LogRetention {
  const source = { account: key.account, blobUrl: "http://b", fileUrl: "http://f" };
  return new LogRetention({
    runtime: sim.runtime,
    accounts: sim.http.accounts,
    limits: { ageSecondsMax: 7 * 86_400, bytesMax: 1024 ** 3, ...limits },
    sourceOf: () => source,
  });
}

const logged = async () =>
  (await sim.store.snapshot((view) => readEvents(view, id, undefined, 1000))).map(
    ({ event }) => event.path,
  );

const state = () => sim.store.snapshot((view) => readState(view, key));

/** Moves the position of the subscription behind its last event, as a delivery does. */
async function pass(): Promise<void> {
  await sim.store.transact(async (tx) => {
    const events = await readEvents(tx, id, undefined, 1000);
    const present = (await readState(tx, key))!;
    const next = { ...present, position: events.at(-1)!.position };
    tx.put(subscriptionStates.key(key), subscriptionStates.codec.encode(next));
  });
}

async function letters(): Promise<readonly object[]> {
  const list = await sim.send({ method: "GET", path: "/dead?restype=container&comp=list" });
  const names = [...list.body.matchAll(/<Name>(hook[^<]*)<\/Name>/g)].map(([, name]) => name);
  const bodies = names.map((name) => sim.send({ method: "GET", path: `/dead/${name}` }));
  return (await Promise.all(bodies)).flatMap(({ body }) => JSON.parse(body) as object[]);
}

test("entries that all readers have passed are deleted after an hour", async () => {
  await put("a.txt");
  await pass();
  await put("b.txt");
  expect(await retention().round()).toBe(false);
  expect(await logged()).toEqual(["a.txt", "b.txt"]);
  sim.clock.skip(3_700_000);
  await retention().round();
  expect(await logged()).toEqual(["b.txt"]);
  expect(await state()).toMatchObject({ missed: 0 });
});

test("unread entries are kept for days, then counted as missed", async () => {
  for (const name of ["a.txt", "b.png", "c.txt"]) await put(name);
  sim.clock.skip(6 * dayMilliseconds);
  await put("late.txt");
  await retention().round();
  expect(await logged()).toHaveLength(4);
  sim.clock.skip(2 * dayMilliseconds);
  await retention().round();
  expect((await logged()).filter((name) => !name.startsWith("hook/"))).toEqual(["late.txt"]);
  expect(await state()).toMatchObject({ missed: 2 });
  expect(await letters()).toMatchObject([
    { deadLetterReason: "RemovedFromEventLog", missedEvents: 2 },
  ]);
});

test("a log beyond its size loses its oldest entries", async () => {
  for (let at = 0; at < 20; at += 1) await put(`${at}.txt`);
  await retention({ bytesMax: 2000 }).round();
  const left = (await logged()).filter((name) => !name.startsWith("hook/"));
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(15);
  expect(left.at(-1)).toBe("19.txt");
  expect((await state())?.missed).toBe(20 - left.length);
});

test("the letters about a log that is too large do not remove further events", async () => {
  const all = { ...subscription, subjectEndsWith: undefined };
  await putSubscription(sim.store, sim.runtime.random, { ...key, subscription: all });
  for (let at = 0; at < 100; at += 1) await put(`${at}.txt`);
  const retained = retention({ bytesMax: 8000 });
  await retained.round();
  const missed = (await state())?.missed;
  for (let round = 0; round < 3; round += 1) await retained.round();
  expect(await letters()).toMatchObject([{ missedEvents: missed }]);
  expect((await state())?.missed).toBe(missed);
});

test("events of dead letters are not missed", async () => {
  const all = { ...subscription, subjectEndsWith: undefined };
  await putSubscription(sim.store, sim.runtime.random, { ...key, subscription: all });
  await put("a.txt");
  for (let week = 0; week < 3; week += 1) {
    sim.clock.skip(8 * dayMilliseconds);
    await retention().round();
  }
  expect(await letters()).toMatchObject([{ missedEvents: 1 }]);
  expect(await logged()).toEqual([]);
});

test("a log without readers is deleted", async () => {
  await put("a.txt");
  await deleteSubscription(sim.store, key);
  await retention().round();
  expect(await logged()).toEqual([]);
});

test("entries that the change feed has not read are kept", async () => {
  sim = await simBlob({ changeFeed: true });
  await sim.send({ method: "PUT", path: "/box?restype=container" });
  const value = await sim.store.snapshot((view) => view.get(accounts.key(key.account)));
  id = accounts.codec.decode(value!).id;
  await put("a.txt");
  sim.clock.skip(30 * dayMilliseconds);
  await retention({ bytesMax: 0 }).round();
  expect(await logged()).toEqual(["a.txt"]);
});
