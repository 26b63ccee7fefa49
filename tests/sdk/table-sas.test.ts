import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateTableSas,
  TableClient,
  type RestError,
  type TableSasSignatureValues,
} from "@azure/data-tables";
import { describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { freshName, testServer } from "../harness/server.ts";
import { accountUrl } from "../harness/table-client.ts";

const held = testServer();
const key = new AzureNamedKeyCredential(developmentAccountName, developmentAccountKey);
const insecure = { allowInsecureConnection: true };
const expiresOn = new Date("2099-01-01");

async function newTable(): Promise<TableClient> {
  const url = accountUrl(held.server.urls.table ?? "");
  const client = new TableClient(url, freshName("table"), key, insecure);
  await client.createTable();
  for (const [partitionKey, rowKey] of ["a1", "a5", "b1", "b5", "c1"]) {
    await client.createEntity({ partitionKey: partitionKey!, rowKey: rowKey! });
  }
  return client;
}

function signed(table: TableClient, values: Omit<TableSasSignatureValues, "tableName">) {
  const token = generateTableSas(table.tableName, key, { expiresOn, ...values });
  const url = accountUrl(held.server.urls.table ?? "");
  return new TableClient(url, table.tableName, new AzureSASCredential(token), insecure);
}

function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "ok",
    (error: RestError) => {
      const details = error.details as { odataError?: { code: string } } | undefined;
      return details?.odataError?.code ?? error.code;
    },
  );
}

async function rows(client: TableClient): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { partitionKey, rowKey } of client.listEntities()) {
    found.push(`${partitionKey}${rowKey}`);
  }
  return found;
}

describe("table SAS", () => {
  it("authorizes its permissions", async () => {
    const table = await newTable();
    const reader = signed(table, { permissions: { query: true } });
    expect(await rows(reader)).toHaveLength(5);
    const entity = { partitionKey: "n", rowKey: "1" };
    expect(await codeOf(reader.createEntity(entity))).toBe("AuthorizationPermissionMismatch");
    const adder = signed(table, { permissions: { add: true } });
    expect(await codeOf(adder.createEntity(entity))).toBe("ok");
    expect(await codeOf(adder.upsertEntity(entity))).toBe("AuthorizationPermissionMismatch");
    const writer = signed(table, { permissions: { add: true, update: true } });
    expect(await codeOf(writer.upsertEntity(entity))).toBe("ok");
    expect(await codeOf(writer.deleteEntity("n", "1"))).toBe("AuthorizationPermissionMismatch");
    const create = ["create", { partitionKey: "n", rowKey: "2" }] as const;
    expect(await codeOf(writer.submitTransaction([create] as never))).toBe("ok");
    expect(await codeOf(reader.submitTransaction([create] as never))).toBe(
      "AuthorizationPermissionMismatch",
    );
    const other = await newTable();
    const stray = signed(table, { permissions: { query: true } });
    Object.assign(stray, { tableName: other.tableName });
    expect(await codeOf(stray.getEntity("a", "1"))).not.toBe("ok");
  });

  it("is limited to its range of entities", async () => {
    const table = await newTable();
    const ranged = signed(table, {
      permissions: { query: true, add: true, delete: true },
      startPartitionKey: "a",
      startRowKey: "5",
      endPartitionKey: "b",
      endRowKey: "1",
    });
    expect(await rows(ranged)).toEqual(["a5", "b1"]);
    expect(await codeOf(ranged.getEntity("a", "5"))).toBe("ok");
    expect(await codeOf(ranged.getEntity("a", "1"))).toBe("ResourceNotFound");
    const insert = (partitionKey: string, rowKey: string) =>
      codeOf(ranged.createEntity({ partitionKey, rowKey }));
    expect(await insert("a", "9")).toBe("ok");
    expect(await insert("b", "2")).toBe("AuthorizationFailure");
    expect(await codeOf(ranged.deleteEntity("c", "1"))).toBe("AuthorizationFailure");
    const outside = ["create", { partitionKey: "c", rowKey: "2" }] as const;
    expect(await codeOf(ranged.submitTransaction([outside] as never))).toBe("AuthorizationFailure");
    expect(await rows(table)).toEqual(["a1", "a5", "a9", "b1", "b5", "c1"]);
  });

  it("follows a stored policy and ends with it", async () => {
    const table = await newTable();
    const accessPolicy = { expiry: expiresOn, permission: "r" };
    await table.setAccessPolicy([{ id: "readers", accessPolicy }]);
    const token = generateTableSas(table.tableName, key, { identifier: "readers" });
    const url = accountUrl(held.server.urls.table ?? "");
    const reader = new TableClient(url, table.tableName, new AzureSASCredential(token), insecure);
    expect(await rows(reader)).toHaveLength(5);
    expect(await codeOf(reader.deleteEntity("a", "1"))).toBe("AuthorizationPermissionMismatch");
    await table.setAccessPolicy([]);
    expect(await codeOf(reader.getEntity("a", "1"))).toBe("AuthenticationFailed");
  });
});
