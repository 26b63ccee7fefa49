import { describe, expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
import { tableWire } from "../harness/table-client.ts";

const held = testServer();
const wire = tableWire(() => held.server.urls.table ?? "");

function everyone<T>(count: number, run: (index: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => run(index)));
}

describe("4 table races", () => {
  it("64 merges with one ETag: exactly one succeeds", async () => {
    const table = await wire.newTable();
    const path = `/${table}(PartitionKey='p',RowKey='r')`;
    const first = await wire.insert(table, { PartitionKey: "p", RowKey: "r" });
    const headers = { "if-match": String(first.headers["etag"]) };
    const answers = await everyone(64, (index) =>
      wire.send({ method: "MERGE", path, headers, body: JSON.stringify({ winner: index }) }),
    );
    const won = answers.filter(({ status }) => status === 204);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(63);
    const found = await wire.send({ method: "GET", path });
    expect(JSON.parse(found.text)).toMatchObject({ winner: answers.indexOf(won[0]!) });
    expect(found.headers["etag"]).toBe(won[0]!.headers["etag"]);
  });

  it("64 inserts of one entity: exactly one succeeds; 64 upserts get distinct ETags", async () => {
    const table = await wire.newTable();
    const keys = { PartitionKey: "p", RowKey: "r" };
    const inserts = await everyone(64, () => wire.insert(table, keys));
    expect(inserts.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(inserts.filter(({ fault }) => fault === "EntityAlreadyExists")).toHaveLength(63);
    const path = `/${table}(PartitionKey='p',RowKey='r')`;
    const upserts = await everyone(64, () => wire.send({ method: "PUT", path, body: "{}" }));
    expect(new Set(upserts.map(({ headers }) => headers["etag"])).size).toBe(64);
  });

  /**
   * Every transaction moves one unit between two of eight entities and increments a count in both,
   * with the ETags it read. The sum stays constant, and all counts together are twice the number of
   * successful transactions.
   */
  it("32 overlapping transactions with readers: no torn read, and a serial order exists", async () => {
    const table = await wire.newTable();
    const rows = Array.from({ length: 8 }, (_, index) => String(index));
    for (const RowKey of rows)
      await wire.insert(table, { PartitionKey: "p", RowKey, units: 10, seen: 0 });
    interface Row {
      RowKey: string;
      units: number;
      seen: number;
      etag: string;
    }
    const readAll = async (): Promise<readonly Row[]> => {
      const headers = { accept: "application/json;odata=minimalmetadata" };
      const { text } = await wire.send({ method: "GET", path: `/${table}()`, headers });
      const { value } = JSON.parse(text) as { value: (Row & { "odata.etag": string })[] };
      return value.map((row) => ({ ...row, etag: row["odata.etag"] }));
    };
    const left = { writers: 32 };
    let won = 0;
    const change = ({ RowKey, units, seen, etag }: Row, moved: number) => ({
      method: "MERGE",
      path: `/${table}(PartitionKey='p',RowKey='${RowKey}')`,
      headers: { "if-match": etag },
      entity: { units: units + moved, seen: seen + 1 },
    });
    const writers = everyone(32, async (index) => {
      for (let attempt = 0; attempt < 200; attempt += 1) {
        const all = await readAll();
        const from = all[index % 8]!;
        const to = all[(index * 3 + 1 + attempt) % 8]!;
        if (from === to) continue;
        const answer = await wire.transact([change(from, -1), change(to, 1)]);
        if (answer.statuses.length === 2) {
          won += 1;
          break;
        }
        expect(answer.statuses).toEqual([412]);
      }
      left.writers -= 1;
    });
    let reads = 0;
    const readers = everyone(4, async () => {
      while (left.writers > 0) {
        const all = await readAll();
        reads += 1;
        expect(all.reduce((sum, { units }) => sum + units, 0)).toBe(80);
        expect(all.reduce((sum, { seen }) => sum + seen, 0) % 2).toBe(0);
      }
    });
    await Promise.all([writers, readers]);
    expect(reads).toBeGreaterThan(0);
    expect(won).toBe(32);
    const all = await readAll();
    expect(all.reduce((sum, { seen }) => sum + seen, 0)).toBe(2 * won);
    expect(all.reduce((sum, { units }) => sum + units, 0)).toBe(80);
  });
});
