import { beforeEach, expect, test } from "vitest";
import { simBlob, type SimBlob } from "../../tests/harness/sim-blob.ts";
import { developmentAccountName as account } from "../account/settings.ts";
import { appendEvents } from "../../tests/harness/event-log.ts";
import { putSubscription } from "../account/subscription-changes.ts";
import type { Subscription } from "../account/subscription.ts";
import { backlogCountMax, SubscriptionManager } from "./subscription-manager.ts";
import type { WebhookRules } from "./webhook.ts";

const subscription: Subscription = {
  destination: { type: "queue", queue: "events" },
  maxDeliveryAttempts: 30,
  eventTimeToLiveSeconds: 86_400,
};

let sim: SimBlob;
let spent = 0;
let manager: SubscriptionManager;

beforeEach(async () => {
  sim = await simBlob();
  spent = 0;
  const loop = {
    spend: (units: number) => {
      spent += units;
      return undefined;
    },
  };
  manager = new SubscriptionManager({ ...sim.runtime, rules: {} as WebhookRules, loop });
});

async function subscribe(name: string): Promise<void> {
  const { random } = sim.runtime;
  await putSubscription(sim.store, random, { account, name, subscription });
}

test("the backlog of each subscription is counted from its position", async () => {
  for (const name of ["first", "second", "third"]) {
    await subscribe(name);
    await appendEvents(sim.store, 100);
  }
  const listed = await manager.list(() => true);
  expect(listed.map(({ name, backlog }) => [name, backlog])).toEqual([
    ["first", 300],
    ["second", 200],
    ["third", 100],
  ]);
  expect(await manager.get({ account, name: "second" })).toMatchObject({ backlog: 200 });
  expect(await manager.get({ account, name: "none" })).toBeUndefined();
  expect(await manager.list(() => false)).toEqual([]);
});

test("many subscriptions with a long backlog read their log once", async () => {
  const names = Array.from({ length: 50 }, (_, at) => `hook-${at}`);
  for (const name of names) await subscribe(name);
  await appendEvents(sim.store, backlogCountMax + 1000);
  const listed = await manager.list(() => true);
  expect(listed.map(({ backlog }) => backlog)).toEqual(names.map(() => backlogCountMax));
  expect(spent).toBeLessThan(backlogCountMax);
});
