import { describe, expect, it } from "vitest";
import { deletedNames } from "../../src/account/deleted-names.ts";
import { blobService } from "../../src/blob/service.ts";
import type { Service } from "../../src/operation/service.ts";
import { fileService } from "../../src/file/service.ts";
import { queueService } from "../../src/queue/service.ts";
import type { View } from "../../src/store/store.ts";
import { tableService } from "../../src/table/service.ts";
import { messageBody } from "../harness/queue-messages.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simService, type SimService } from "../harness/sim-service.ts";

interface Kind {
  readonly kind: string;
  readonly service: Service;
  readonly create: RawCall;
  readonly remove: RawCall;
  readonly refusal: string;
  /** Adds more than one transaction of the reclaim job removes. */
  readonly fill?: (sim: SimService) => Promise<void>;
  /** Its content as a listing returns it. */
  readonly list: RawCall;
}

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
const entity = (row: number) => JSON.stringify({ PartitionKey: "p", RowKey: `row${row}` });

const kinds: readonly Kind[] = [
  {
    kind: "container",
    service: blobService,
    create: { method: "PUT", path: "/name?restype=container" },
    remove: { method: "DELETE", path: "/name?restype=container" },
    refusal: "ContainerBeingDeleted",
    list: { method: "GET", path: "/name?restype=container&comp=list" },
  },
  {
    kind: "queue",
    service: queueService,
    create: { method: "PUT", path: "/name" },
    remove: { method: "DELETE", path: "/name" },
    refusal: "QueueBeingDeleted",
    fill: async (sim) => {
      const put = { method: "POST", path: "/name/messages", body: messageBody("row") };
      for (let count = 0; count < 501; count += 1) await sim.send(put);
    },
    list: { method: "GET", path: "/name/messages?peekonly=true" },
  },
  {
    kind: "table",
    service: tableService,
    create: { method: "POST", path: "/Tables", headers: json, body: '{"TableName":"name"}' },
    // Table names are not case-sensitive.
    remove: { method: "DELETE", path: "/Tables('Name')", headers: json },
    refusal: "TableBeingDeleted",
    fill: async (sim) => {
      for (let row = 0; row < 101; row += 1) {
        await sim.send({ method: "POST", path: "/name", headers: json, body: entity(row) });
      }
    },
    list: { method: "GET", path: "/name()", headers: json },
  },
  {
    kind: "share",
    service: fileService,
    create: { method: "PUT", path: "/name?restype=share" },
    remove: { method: "DELETE", path: "/name?restype=share" },
    refusal: "ShareBeingDeleted",
    list: { method: "GET", path: "/name?restype=directory&comp=list" },
  },
];

describe.each(kinds)("the name of a deleted $kind", (each) => {
  it("is free at once, and the old content does not reappear", async () => {
    const sim = await simService(each.service);
    expect((await sim.send(each.create)).status).toBe(201);
    await each.fill?.(sim);
    expect((await sim.send(each.remove)).status).toBeLessThan(300);
    expect((await sim.send(each.list)).status).toBe(404);
    expect((await sim.send(each.create)).status).toBe(201);
    expect((await sim.send(each.list)).body).not.toContain("row");
    await sim.reclaim();
    expect((await sim.send(each.list)).status).toBe(200);
  });

  it("stays reserved for deletedNameSeconds, also after the reclaim job", async () => {
    const sim = await simService(each.service, { account: { deletedNameSeconds: 40 } });
    await sim.send(each.create);
    await sim.send(each.remove);
    sim.clock.advance(39_900);
    await sim.reclaim();
    const early = await sim.send(each.create);
    expect(early.status).toBe(409);
    expect(early.code ?? early.body).toContain(each.refusal);
    sim.clock.advance(200);
    expect((await sim.send(each.create)).status).toBe(201);
    // The second deletion has its own time, and the first one's job does not affect it.
    await sim.send(each.remove);
    await sim.reclaim();
    expect((await sim.send(each.create)).status).toBe(409);
    sim.clock.advance(40_100);
    await sim.reclaim();
    expect((await sim.send(each.create)).status).toBe(201);
  });
});

describe("a container that is deleted again", () => {
  const create = { method: "PUT", path: "/name?restype=container" };
  const remove = (headers: Record<string, string> = {}) => ({
    method: "DELETE",
    path: "/name?restype=container",
    headers,
  });

  it.each([undefined, 40])("gets 202 for one second, deletedNameSeconds %s", async (seconds) => {
    const account = seconds === undefined ? {} : { deletedNameSeconds: seconds };
    const sim = await simService(blobService, { account });
    expect((await sim.send(remove())).code).toBe("ContainerNotFound");
    await sim.send(create);
    expect((await sim.send(remove())).status).toBe(202);
    sim.clock.advance(900);
    await sim.reclaim();
    expect((await sim.send(remove())).status).toBe(202);
    expect((await sim.send({ method: "HEAD", path: create.path })).status).toBe(404);
    sim.clock.advance(200);
    expect((await sim.send(remove())).code).toBe("ContainerNotFound");
    sim.clock.advance(41_000);
    await sim.reclaim();
    expect(await sim.store.snapshot(async (view) => recordsOf(view))).toBe(0);
  });

  it("gets 404 if it has conditions or a lease id, of which only one may succeed", async () => {
    const sim = await simService(blobService);
    const { headers } = await sim.send(create);
    const etag = headers["etag"] ?? "";
    expect((await sim.send(remove({ "if-match": etag }))).status).toBe(202);
    for (const limited of [
      { "if-match": etag },
      { "if-unmodified-since": "Thu, 01 Jan 2099 00:00:00 GMT" },
      { "x-ms-lease-id": "11111111-2222-3333-4444-555555555555" },
    ]) {
      expect((await sim.send(remove(limited))).code).toBe("ContainerNotFound");
    }
  });

  it("is deleted if it was created again", async () => {
    const sim = await simService(blobService);
    for (let round = 0; round < 2; round += 1) {
      expect((await sim.send(create)).status).toBe(201);
      expect((await sim.send(remove())).status).toBe(202);
    }
    expect((await sim.send(create)).status).toBe(201);
    await sim.reclaim();
    expect((await sim.send({ method: "HEAD", path: create.path })).status).toBe(200);
  });
});

async function recordsOf(view: View): Promise<number> {
  let count = 0;
  for await (const entries of view.range(deletedNames.range([]))) count += entries.length;
  return count;
}

describe("an operation that creates under a reserved name is rejected", () => {
  const account = { deletedNameSeconds: 40, containerSoftDeleteDays: 7, shareSoftDeleteDays: 7 };

  it("Rename Container", async () => {
    const sim = await simService(blobService, { account });
    for (const name of ["old", "other"]) {
      await sim.send({ method: "PUT", path: `/${name}?restype=container` });
    }
    await sim.send({ method: "DELETE", path: "/old?restype=container" });
    const rename = {
      method: "PUT",
      path: "/old?restype=container&comp=rename",
      headers: { "x-ms-source-container-name": "other" },
    };
    expect((await sim.send(rename)).code).toBe("ContainerBeingDeleted");
    sim.clock.advance(40_100);
    expect((await sim.send(rename)).status).toBe(200);
  });

  it.each([
    { service: blobService, kind: "container", code: "ContainerBeingDeleted" },
    { service: fileService, kind: "share", code: "ShareBeingDeleted" },
  ])("Restore $kind", async ({ service, kind, code }) => {
    const sim = await simService(service, { account });
    await sim.send({ method: "PUT", path: `/name?restype=${kind}` });
    await sim.send({ method: "DELETE", path: `/name?restype=${kind}` });
    const list = await sim.send({ method: "GET", path: "/?comp=list&include=deleted" });
    const version = /<Version>([^<]+)<\/Version>/.exec(list.body)?.[1] ?? "";
    const restore = {
      method: "PUT",
      path: `/name?restype=${kind}&comp=undelete`,
      headers: { [`x-ms-deleted-${kind}-name`]: "name", [`x-ms-deleted-${kind}-version`]: version },
    };
    expect((await sim.send(restore)).code).toBe(code);
    sim.clock.advance(40_100);
    expect((await sim.send(restore)).status).toBe(201);
  });
});
