import { describe, expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
import { tableWire } from "../harness/table-client.ts";

const held = testServer();
const wire = tableWire(() => held.server.urls.table ?? "");

async function filled(count: number): Promise<string> {
  const table = await wire.newTable();
  for (let first = 0; first < count; first += 100) {
    const rows = Array.from({ length: Math.min(100, count - first) }, (_, index) => first + index);
    const changes = rows.map((row) => ({
      method: "POST",
      path: `/${table}`,
      headers: { prefer: "return-no-content" },
      entity: { PartitionKey: "p", RowKey: String(row) },
    }));
    expect((await wire.transact(changes)).statuses).toHaveLength(rows.length);
  }
  return table;
}

const create = (table: string) =>
  wire.send({ method: "POST", path: "/Tables", body: JSON.stringify({ TableName: table }) });
const names = async () => (await wire.send({ method: "GET", path: "/Tables" })).text;

describe("4 table deletion", () => {
  it("frees the name of a small table at once, and its entities do not reappear", async () => {
    const table = await filled(100);
    expect((await wire.send({ method: "DELETE", path: `/Tables('${table}')` })).status).toBe(204);
    expect((await create(table)).status).toBe(201);
    const found = await wire.send({ method: "GET", path: `/${table}()` });
    expect(found.text).toBe('{"value":[]}');
  });

  it("hides a large table at once and frees its name", async () => {
    const table = await filled(150);
    await wire.send({ method: "DELETE", path: `/Tables('${table}')` });
    expect((await wire.send({ method: "GET", path: `/${table}()` })).fault).toBe("TableNotFound");
    expect(await names()).not.toContain(table);
    const again = await wire.send({ method: "DELETE", path: `/Tables('${table}')` });
    expect(again.fault).toBe("ResourceNotFound");
    expect((await create(table)).status).toBe(201);
    const found = await wire.send({ method: "GET", path: `/${table}()` });
    expect(found.text).toBe('{"value":[]}');
  });
});
