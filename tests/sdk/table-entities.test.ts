import {
  odata,
  TableClient,
  TableServiceClient,
  TableTransaction,
  type RestError,
  type TableEntity,
} from "@azure/data-tables";
import { describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();
const insecure = { allowInsecureConnection: true };

async function newTable(): Promise<TableClient> {
  const client = TableClient.fromConnectionString(
    held.server.connectionString,
    freshName("table"),
    insecure,
  );
  await client.createTable();
  return client;
}

async function list<T extends object>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of pages) found.push(one);
  return found;
}

function refused(work: Promise<unknown>): Promise<{ status: number | undefined; code: unknown }> {
  return work.then(
    () => ({ status: undefined, code: undefined }),
    (error: RestError) => {
      const details = error.details as { odataError?: { code: string } } | undefined;
      return { status: error.statusCode, code: details?.odataError?.code ?? error.code };
    },
  );
}

describe("tables", () => {
  it("are created, listed, found in any case, and deleted", async () => {
    const service = TableServiceClient.fromConnectionString(held.server.connectionString, insecure);
    const name = freshName("Listed");
    await service.createTable(name);
    await service.createTable(name); // The library takes "already exists" for success.
    const names = (await list(service.listTables())).map((table) => table.name);
    expect(names).toContain(name);
    const filter = odata`TableName eq ${name}`;
    expect(await list(service.listTables({ queryOptions: { filter } }))).toHaveLength(1);
    const lower = TableClient.fromConnectionString(
      held.server.connectionString,
      name.toLowerCase(),
      insecure,
    );
    await lower.createEntity({ partitionKey: "p", rowKey: "r" });
    await service.deleteTable(name);
    expect(await refused(lower.getEntity("p", "r"))).toEqual({
      status: 404,
      code: "TableNotFound",
    });
    await service.createTable(name);
    expect(await list(lower.listEntities())).toEqual([]);
  });

  it("store access policies and properties, and return statistics", async () => {
    const client = await newTable();
    const accessPolicy = { start: new Date("2024-01-01"), permission: "raud" };
    await client.setAccessPolicy([{ id: "one", accessPolicy }, { id: "bare" }] as never);
    const policies = await client.getAccessPolicy();
    expect(policies.map(({ id }) => id)).toEqual(["one", "bare"]);
    const service = TableServiceClient.fromConnectionString(held.server.connectionString, insecure);
    await service.setProperties({ cors: [] });
    expect((await service.getProperties()).hourMetrics?.enabled).toBe(true);
  });
});

describe("entities", () => {
  it("are returned with all their types", async () => {
    const client = await newTable();
    const entity = {
      partitionKey: "p'q",
      rowKey: "ä 1%",
      text: 'quote " and \\ and \u{1F600}',
      yes: true,
      whole: 42,
      half: 0.5,
      big: { type: "Int64", value: "9223372036854775807" },
      when: { type: "DateTime", value: "2024-02-29T12:34:56.1234567Z" },
      id: { type: "Guid", value: "1c241c8d-f7b6-4b0a-abba-d9b169010038" },
      bytes: new Uint8Array([0, 1, 255]),
      notANumber: { type: "Double", value: "NaN" },
    } as const;
    await client.createEntity(entity);
    const found = await client.getEntity("p'q", "ä 1%", {
      disableTypeConversion: true,
    });
    expect(found).toMatchObject({
      text: { value: entity.text },
      yes: { type: "Boolean", value: "true" },
      whole: { type: "Int32", value: "42" },
      half: { type: "Double", value: "0.5" },
      big: entity.big,
      when: entity.when,
      id: entity.id,
      bytes: { type: "Binary", value: "AAH/" },
      notANumber: entity.notANumber,
    });
  });

  it("are updated only with their ETag", async () => {
    const client = await newTable();
    const keys = { partitionKey: "p", rowKey: "r" };
    const { etag } = await client.createEntity({ ...keys, a: 1, b: 2 });
    expect(etag).toMatch(/^W\/"datetime'[\dT%3A.-]+Z'"$/);
    await client.updateEntity({ ...keys, a: 5 }, "Merge", { etag: etag! });
    expect(await client.getEntity("p", "r")).toMatchObject({ a: 5, b: 2 });
    const stale = await refused(client.updateEntity({ ...keys, a: 6 }, "Replace", { etag: etag! }));
    expect(stale).toEqual({ status: 412, code: "UpdateConditionNotSatisfied" });
    await client.updateEntity({ ...keys, a: 7 }, "Replace");
    const replaced = await client.getEntity("p", "r");
    expect(replaced).toMatchObject({ a: 7 });
    expect(replaced).not.toHaveProperty("b");
    expect(await refused(client.deleteEntity("p", "r", { etag: etag! }))).toMatchObject({
      status: 412,
    });
    await client.deleteEntity("p", "r");
    expect(await refused(client.getEntity("p", "r"))).toEqual({
      status: 404,
      code: "ResourceNotFound",
    });
    await client.upsertEntity({ ...keys, a: 1 }, "Merge");
    await client.upsertEntity({ ...keys, c: 1 }, "Merge");
    expect(await client.getEntity("p", "r")).toMatchObject({ a: 1, c: 1 });
    await client.upsertEntity({ ...keys, d: 1 }, "Replace");
    expect(await client.getEntity("p", "r")).not.toHaveProperty("a");
  });

  it("are rejected beyond the limits, and nothing changes", async () => {
    const client = await newTable();
    const insert = (entity: object) =>
      refused(client.createEntity({ partitionKey: "p", rowKey: "r", ...entity }));
    const many = Object.fromEntries(Array.from({ length: 253 }, (_, index) => [`p${index}`, 1]));
    const large = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`p${index}`, "x".repeat(32_000)]),
    );
    expect(await insert(many)).toEqual({ status: 400, code: "TooManyProperties" });
    expect(await insert(large)).toEqual({ status: 400, code: "EntityTooLarge" });
    expect(await insert({ ["n".repeat(256)]: 1 })).toMatchObject({ code: "PropertyNameTooLong" });
    expect(await insert({ "a-b": 1 })).toMatchObject({ code: "PropertyNameInvalid" });
    expect(await insert({ a: "x".repeat(32_769) })).toMatchObject({
      code: "PropertyValueTooLarge",
    });
    expect(await insert({ rowKey: "a/b" })).toMatchObject({ code: "OutOfRangeInput" });
    expect(await insert({ rowKey: "k".repeat(513) })).toMatchObject({ code: "KeyValueTooLarge" });
    expect(await insert({ a: { type: "Int32", value: "x" } })).toMatchObject({ status: 400 });
    expect(await list(client.listEntities())).toEqual([]);
  });
});

describe("queries", () => {
  it("return pages in key order, with filters, selections and continuation tokens", async () => {
    const client = await newTable();
    const actions = Array.from({ length: 50 }, (_, index) => ({
      partitionKey: index % 2 === 0 ? "even" : "odd",
      rowKey: String(index).padStart(3, "0"),
      index,
    }));
    await Promise.all(actions.map((entity) => client.createEntity(entity)));
    const pages = client.listEntities().byPage({ maxPageSize: 20 });
    const sizes: number[] = [];
    const rows: string[] = [];
    for await (const page of pages) {
      sizes.push(page.length);
      rows.push(...page.map(({ partitionKey, rowKey }) => `${partitionKey}/${rowKey}`));
    }
    expect(sizes).toEqual([20, 20, 10]);
    expect(rows).toEqual([...rows].toSorted());
    const filter = odata`PartitionKey eq ${"odd"} and (index lt 10 or not (index lt 45))`;
    const found = await list(
      client.listEntities({ queryOptions: { filter, select: ["index", "missing"] } }),
    );
    expect(found.map((entity) => entity["index"])).toEqual([1, 3, 5, 7, 9, 45, 47, 49]);
    expect(Object.keys(found[0]!)).not.toContain("partitionKey");
    const bad = list(client.listEntities({ queryOptions: { filter: "index lt" } }));
    expect(await refused(bad)).toEqual({ status: 400, code: "InvalidInput" });
  });
});

describe("transactions", () => {
  it("are applied as a whole", async () => {
    const client = await newTable();
    await client.createEntity({ partitionKey: "p", rowKey: "old", a: 1 });
    const transaction = new TableTransaction();
    transaction.createEntity({ partitionKey: "p", rowKey: "new" });
    transaction.updateEntity({ partitionKey: "p", rowKey: "old", b: 2 }, "Merge");
    transaction.upsertEntity({ partitionKey: "p", rowKey: "other" }, "Replace");
    const answer = await client.submitTransaction(transaction.actions);
    expect(answer.subResponses.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(answer.subResponses.every(({ etag }) => etag !== undefined)).toBe(true);
    expect(await client.getEntity("p", "old")).toMatchObject({ a: 1, b: 2 });
  });

  it("fail as a whole and name the failed operation", async () => {
    const client = await newTable();
    await client.createEntity({ partitionKey: "p", rowKey: "2" });
    const create = (rowKey: string) => ["create", { partitionKey: "p", rowKey }] as const;
    const submit = (...actions: (readonly ["create", TableEntity])[]) =>
      refused(client.submitTransaction(actions as never));
    expect(await submit(create("1"), create("2"))).toEqual({
      status: 409,
      code: "EntityAlreadyExists",
    });
    expect(await submit(create("1"), create("3"), create("1"))).toMatchObject({
      code: "InvalidDuplicateRow",
    });
    const many = Array.from({ length: 101 }, (_, index) => create(`n${index}`));
    expect(await submit(...many)).toMatchObject({ status: 400, code: "InvalidInput" });
    expect(await list(client.listEntities())).toHaveLength(1);
  });
});
