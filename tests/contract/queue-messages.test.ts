import { beforeEach, describe, expect, it } from "vitest";
import { messagesIn, QueueCalls } from "../harness/queue-messages.ts";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

let sim: SimQueue;
let queue: QueueCalls;

beforeEach(async () => {
  sim = await simQueue();
  queue = new QueueCalls(sim, "orders");
  expect((await queue.create()).status).toBe(201);
});

const texts = (messages: readonly { text: string }[]) => messages.map(({ text }) => text);

describe("5 queue visibility", () => {
  it("a received message is invisible until its visibility timeout ends", async () => {
    await queue.put("a");
    expect(texts(await queue.get("visibilitytimeout=10"))).toEqual(["a"]);
    sim.clock.advance(9_900);
    expect(await queue.get()).toEqual([]);
    expect(await queue.peek()).toEqual([]);
  });
  it("a message that is not deleted becomes visible again", async () => {
    await queue.put("a");
    await queue.get("visibilitytimeout=10");
    sim.clock.advance(10_100);
    const [again] = await queue.get();
    expect(again).toMatchObject({ text: "a", dequeueCount: 2 });
  });
  it("TimeNextVisible is the time of Get Messages plus the timeout, 30 s by default", async () => {
    await queue.put("a");
    await queue.put("b");
    const [first] = await queue.get();
    const [second] = await queue.get("visibilitytimeout=100");
    expect(first!.visible - first!.inserted).toBe(30_000);
    expect(second!.visible - second!.inserted).toBe(100_000);
  });
  it("Put Message accepts a visibility timeout", async () => {
    await queue.put("later", "visibilitytimeout=5");
    await queue.put("now");
    expect(texts(await queue.get("numofmessages=32"))).toEqual(["now"]);
    sim.clock.advance(5_100);
    expect(texts(await queue.get("numofmessages=32"))).toEqual(["later"]);
  });
  it("messages are received in the order in which they become visible", async () => {
    for (const text of ["a", "b", "c", "d"]) await queue.put(text);
    const [a, b] = await queue.get("numofmessages=2&visibilitytimeout=20");
    await queue.update(b!, 5);
    await queue.update(a!, 10);
    sim.clock.advance(30_000);
    expect(texts(await queue.get("numofmessages=32"))).toEqual(["c", "d", "b", "a"]);
  });
});

describe("5 queue receipts", () => {
  it("every Get Messages and Update Message returns a new pop receipt", async () => {
    const [put] = messagesIn((await queue.put("a")).body);
    const [got] = await queue.get("visibilitytimeout=1");
    const updated = (await queue.update(got!, 1)).headers["x-ms-popreceipt"];
    sim.clock.advance(1_100);
    const [again] = await queue.get();
    const receipts = [put!.popReceipt, got!.popReceipt, updated, again!.popReceipt];
    expect(new Set(receipts).size).toBe(4);
  });
  it("pop receipts differ also for equal visibility times", async () => {
    const [put] = messagesIn((await queue.put("a")).body);
    sim.clock.advance(1_000);
    const first = await queue.update(put!, 31);
    const popReceipt = first.headers["x-ms-popreceipt"] ?? "";
    sim.clock.advance(1_000);
    const second = await queue.update({ id: put!.id, popReceipt }, 30);
    expect(second.status).toBe(204);
    expect(second.headers["x-ms-popreceipt"]).not.toBe(popReceipt);
  });
  it.each(["update", "delete"])(
    "%s requires the pop receipt of the latest get or update",
    async (kind) => {
      await queue.put("a");
      const [first] = await queue.get("visibilitytimeout=1");
      sim.clock.advance(1_100);
      const [second] = await queue.get();
      const act = (message: NonNullable<typeof first>) =>
        kind === "update" ? queue.update(message, 5, "changed") : queue.remove(message);
      expect(await act(first!)).toMatchObject({ status: 400, code: "PopReceiptMismatch" });
      expect(await queue.count()).toBe(1);
      expect((await act(second!)).status).toBe(204);
    },
  );
  it("a pop receipt stays valid after the timeout until the message is received again", async () => {
    await queue.put("a");
    const [got] = await queue.get("visibilitytimeout=1");
    sim.clock.advance(60_000);
    expect((await queue.remove(got!)).status).toBe(204);
    expect(await queue.peek()).toEqual([]);
  });
  it("the pop receipt of Put Message deletes, too", async () => {
    const [put] = messagesIn((await queue.put("a")).body);
    expect((await queue.remove(put!)).status).toBe(204);
    expect(await queue.remove(put!)).toMatchObject({ status: 404, code: "MessageNotFound" });
  });
  it("a malformed pop receipt is rejected with its own code", async () => {
    await queue.put("a");
    const [got] = await queue.get();
    const answer = await queue.remove({ ...got!, popReceipt: "nonsense" });
    expect(answer).toMatchObject({ status: 400, code: "InvalidQueryParameterValue" });
  });
});

describe("5 queue delivery", () => {
  it("concurrent consumers never receive the same message", async () => {
    const count = 200;
    for (let index = 0; index < count; index += 1) await queue.put(`m${index}`);
    const gets = Array.from({ length: 50 }, () => queue.get("numofmessages=7"));
    const got = texts((await Promise.all(gets)).flat());
    expect(got).toHaveLength(count);
    expect(new Set(got).size).toBe(count);
  });
  it("deleted messages do not reappear, and no other is lost or duplicated", async () => {
    for (let index = 0; index < 40; index += 1) await queue.put(`m${index}`);
    const got = await queue.get("numofmessages=32&visibilitytimeout=1");
    const answers = await Promise.all(got.slice(0, 20).map((message) => queue.remove(message)));
    expect(answers.every(({ status }) => status === 204)).toBe(true);
    sim.clock.advance(2_000);
    const rest = texts(await queue.get("numofmessages=32"));
    expect(rest.toSorted()).toEqual(
      Array.from({ length: 20 }, (_, index) => `m${index + 20}`).toSorted(),
    );
    expect(await queue.count()).toBe(20);
  });
  it("of concurrent deletes of one message exactly one succeeds", async () => {
    await queue.put("a");
    const [got] = await queue.get();
    const answers = await Promise.all(Array.from({ length: 20 }, () => queue.remove(got!)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(await queue.count()).toBe(0);
  });
});

describe("5 queue expiry", () => {
  it("expired messages are not received", async () => {
    await queue.put("short", "messagettl=5");
    await queue.put("long", "messagettl=-1");
    const [short] = await queue.get("visibilitytimeout=1");
    sim.clock.advance(5_100);
    expect(texts(await queue.peek())).toEqual(["long"]);
    expect(await queue.remove(short!)).toMatchObject({ status: 404, code: "MessageNotFound" });
    expect(texts(await queue.get("numofmessages=32"))).toEqual(["long"]);
    expect(await queue.count()).toBe(1);
  });
  it("expired messages are reclaimed in the background", async () => {
    for (let index = 0; index < 600; index += 1) await queue.put(`m${index}`, "messagettl=5");
    await queue.put("stays");
    sim.clock.advance(120_000);
    expect(await queue.count()).toBe(601);
    await sim.reclaim();
    expect(await queue.count()).toBe(1);
    expect(texts(await queue.get("numofmessages=32"))).toEqual(["stays"]);
  });
  it("Update Message cannot hide a message beyond its expiry", async () => {
    await queue.put("a", "messagettl=60");
    const [got] = await queue.get();
    const answer = await queue.update(got!, 61);
    expect(answer).toMatchObject({ status: 400, code: "OutOfRangeQueryParameterValue" });
    expect((await queue.update(got!, 59)).status).toBe(204);
  });
});
