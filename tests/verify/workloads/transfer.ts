import {
  checkTransactions,
  type RowWrite,
  type SeenRow,
  type TransactionInput,
  type TransactionOutput,
} from "../transactions.ts";
import { account, headerOf, type Answer, type Sent } from "../wire.ts";
import { insist, isFine, type Sender, type Setting, type Workload } from "../workload.ts";
import { newTable } from "./entity-register.ts";

const table = "verifytransfers";
const name = "transaction";
const rowsPerPartition = 6;
const unitsAtFirst = 10;

interface EntitySeen extends SeenRow {
  readonly etag: string;
}

interface StoredEntity {
  readonly RowKey: string;
  readonly version: string;
  readonly previous: string;
  readonly units: number;
  readonly "odata.etag": string;
}

/** Moves units between entities in one transaction, with the ETags of one query. */
export const transfer: Workload = {
  name,
  service: "table",
  check: checkTransactions,
  setUp: ({ wire }) => insist(() => wire.send(newTable(table)), 201, 409),
  client(setting) {
    const ready = new Set<string>();
    return async () => {
      const key = `t${setting.epoch()}`;
      if (!ready.has(key)) await insist(() => insertAll(setting.wire, key), 202);
      ready.add(key);
      const rows = await query(setting, key);
      if (rows === undefined || setting.random.chance(0.3)) return;
      const count = 2 + setting.random.below(2);
      const start = setting.random.below(rows.length);
      const chosen = Array.from({ length: count }, (_, at) => rows[(start + at) % rows.length]!);
      await change(setting, key, chosen);
    };
  },
  async finish(setting, keys) {
    for (const key of keys) await query(setting, key);
  },
};

/** All or none: the first client creates them, the others are rejected as a whole. */
async function insertAll(wire: Sender, key: string): Promise<Answer> {
  const parts = Array.from({ length: rowsPerPartition }, (_, index) => {
    const entity = {
      PartitionKey: key,
      RowKey: String(index),
      version: "first",
      previous: "",
      units: unitsAtFirst,
    };
    return part("POST", `/${table}`, entity);
  });
  return wire.send(batchOf(parts));
}

async function query(setting: Setting, key: string): Promise<readonly EntitySeen[] | undefined> {
  const input: TransactionInput = { action: "query" };
  let seen: readonly EntitySeen[] | undefined;
  const run = async (): Promise<TransactionOutput> => {
    const filter = encodeURIComponent(`PartitionKey eq '${key}'`);
    const path = `/${table}()?$filter=${filter}`;
    const { status, text } = await setting.wire.send({ service: "table", method: "GET", path });
    if (!isFine(status)) return { status };
    seen = rowsIn(text);
    const rows = seen.map(({ row, version, previous, units }) => ({
      row,
      version,
      previous,
      units,
    }));
    return { status, rows };
  };
  await setting.recorder.record({ workload: name, key, input }, run);
  return seen;
}

function rowsIn(text: string): readonly EntitySeen[] {
  const { value } = JSON.parse(text) as { value: readonly StoredEntity[] };
  return value.map((entity) => ({
    row: entity.RowKey,
    version: entity.version,
    previous: entity.previous,
    units: entity.units,
    etag: entity["odata.etag"],
  }));
}

async function change(setting: Setting, key: string, rows: readonly EntitySeen[]): Promise<void> {
  const version = setting.unique();
  const writes: readonly RowWrite[] = rows.map((one) => ({
    row: one.row,
    previous: one.version,
    version,
  }));
  const parts = rows.map(({ row, version: previous, units, etag }, index) => {
    // The first entity gives one unit to each of the others.
    const entity = { version, previous, units: units + (index === 0 ? 1 - rows.length : 1) };
    const path = `/${table}(PartitionKey='${key}',RowKey='${row}')`;
    return part("MERGE", path, entity, etag);
  });
  const run = async (): Promise<TransactionOutput> => {
    const answer = await setting.wire.send(batchOf(parts));
    return { status: isFine(answer.status) ? statusIn(answer) : answer.status };
  };
  const input: TransactionInput = { action: "transfer", writes };
  await setting.recorder.record({ workload: name, key, input }, run);
}

/** The highest status of the parts: of a failed transaction only the failed part is answered. */
function statusIn(answer: Answer): number {
  if (!headerOf(answer, "content-type").includes("multipart")) return answer.status;
  const statuses = [...answer.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));
  return Math.max(...statuses);
}

function part(method: string, path: string, entity: object, etag?: string): string {
  const condition = etag === undefined ? [] : [`If-Match: ${etag}`];
  return [
    "Content-Type: application/http",
    "Content-Transfer-Encoding: binary",
    "",
    `${method} http://localhost/${account}${path} HTTP/1.1`,
    "Content-Type: application/json",
    "Accept: application/json;odata=nometadata",
    ...condition,
    "",
    JSON.stringify(entity),
  ].join("\r\n");
}

function batchOf(parts: readonly string[]): Sent {
  const changes = parts.map((one) => `--changes\r\n${one}\r\n`).join("");
  const set = `Content-Type: multipart/mixed; boundary=changes\r\n\r\n${changes}--changes--\r\n`;
  return {
    service: "table",
    method: "POST",
    path: "/$batch",
    headers: { "content-type": "multipart/mixed; boundary=batch" },
    body: `--batch\r\n${set}\r\n--batch--\r\n`,
  };
}
