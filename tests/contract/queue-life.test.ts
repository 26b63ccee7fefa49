import { beforeEach, describe, expect, it } from "vitest";
import { operations } from "../../src/queue/operations.ts";
import { QueueCalls } from "../harness/queue-messages.ts";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

let sim: SimQueue;
let queue: QueueCalls;

beforeEach(async () => {
  sim = await simQueue();
  queue = new QueueCalls(sim, "orders");
  await queue.create();
});

/** Every operation of the catalogue, by the id it has there. */
const catalogue: Readonly<Record<string, string>> = {
  Service_SetProperties: "Set Queue Service Properties",
  Service_GetProperties: "Get Queue Service Properties",
  Service_GetStatistics: "Get Queue Service Stats",
  Service_ListQueuesSegment: "List Queues",
  Service_GetUserDelegationKey: "Get User Delegation Key",
  Preflight: "Preflight Queue Request",
  Queue_Create: "Create Queue",
  Queue_Delete: "Delete Queue",
  Queue_GetProperties: "Get Queue Metadata",
  Queue_SetMetadata: "Set Queue Metadata",
  Queue_GetAccessPolicy: "Get Queue ACL",
  Queue_SetAccessPolicy: "Set Queue ACL",
  Messages_Dequeue: "Get Messages",
  Messages_Clear: "Clear Messages",
  Messages_Enqueue: "Put Message",
  Messages_Peek: "Peek Messages",
  MessageId_Update: "Update Message",
  MessageId_Delete: "Delete Message",
};

describe("5 queue declarations", () => {
  it("name every operation of the catalogue", () => {
    const declared = operations.flatMap(({ ids, name }) => ids.map((id) => [id, name]));
    expect(Object.fromEntries(declared)).toEqual(catalogue);
  });
  it.each(operations.map((operation) => [operation.name, operation] as const))(
    "%s takes no conditions and no lease",
    (_name, { conditions, lease, etag }) => {
      expect({ conditions, lease, etag }).toEqual({
        conditions: "none",
        lease: "none",
        etag: "none",
      });
    },
  );
});

describe("5 queue last writer wins", () => {
  const write = (comp: string, headers: Readonly<Record<string, string>>, body?: string) =>
    sim.send({
      method: "PUT",
      path: `/orders?comp=${comp}`,
      headers,
      ...(body === undefined ? {} : { body }),
    });

  it("Set Queue Metadata, also with failing conditions", async () => {
    const stale = { "if-match": '"0x8D0000000000001"' };
    const headers = { ...stale, "x-ms-meta-n": "1" };
    expect((await write("metadata", headers)).status).toBe(204);
    await write("metadata", { "x-ms-meta-n": "2" });
    const answer = await sim.send({ method: "GET", path: "/orders?comp=metadata" });
    expect(answer.headers["x-ms-meta-n"]).toBe("2");
  });
  it("Update Message with the current pop receipt", async () => {
    await queue.put("a");
    const [got] = await queue.get();
    const answers = await Promise.all(["b", "c", "d"].map((text) => queue.update(got!, 0, text)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(["b", "c", "d"]).toContain((await queue.peek())[0]?.text);
  });
});

describe("5 queue life", () => {
  it("create is repeatable with the same metadata only", async () => {
    expect((await queue.create()).status).toBe(204);
    const other = await queue.create({ "x-ms-meta-a": "1" });
    expect(other).toMatchObject({ status: 409, code: "QueueAlreadyExists" });
  });
  it("a small queue is deleted at once and its name is free", async () => {
    await queue.put("a");
    expect((await queue.delete()).status).toBe(204);
    expect(await queue.getAnswer()).toMatchObject({ status: 404, code: "QueueNotFound" });
    expect((await queue.create()).status).toBe(201);
    expect(await queue.peek()).toEqual([]);
    expect(await queue.count()).toBe(0);
  });
  it("so is a large queue, and its messages do not reappear", async () => {
    for (let index = 0; index < 501; index += 1) await queue.put("m");
    expect((await queue.delete()).status).toBe(204);
    expect(await queue.put("m")).toMatchObject({ status: 404, code: "QueueNotFound" });
    expect((await queue.create()).status).toBe(201);
    await queue.put("new");
    await sim.reclaim();
    expect((await queue.peek()).map(({ text }) => text)).toEqual(["new"]);
    expect(await queue.count()).toBe(1);
  });
  it("Clear Messages removes all messages, invisible ones included", async () => {
    for (let index = 0; index < 5; index += 1) await queue.put("m");
    const [got] = await queue.get("visibilitytimeout=1");
    expect((await queue.clear()).status).toBe(204);
    sim.clock.advance(2_000);
    expect(await queue.peek()).toEqual([]);
    expect(await queue.count()).toBe(0);
    expect(await queue.remove(got!)).toMatchObject({ status: 404, code: "MessageNotFound" });
    await queue.put("after");
    await sim.reclaim();
    expect((await queue.peek()).map(({ text }) => text)).toEqual(["after"]);
  });
});
