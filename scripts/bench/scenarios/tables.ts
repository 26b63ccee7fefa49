import { fill, once } from "../target.ts";
import type { Client, Target } from "../target.ts";
import { anyObject, ownNumber, sharedObjects, spread } from "./scenario.ts";
import type { Scenario, Site, Step } from "./scenario.ts";

const rowsOfPartition = 1000;
const transactionRows = 100;
const versions = "DataServiceVersion: 3.0\r\nMaxDataServiceVersion: 3.0\r\n";
const plain = `Accept: application/json;odata=nometadata\r\n${versions}`;
const json = `${plain}Content-Type: application/json\r\n`;
const quiet = `${json}Prefer: return-no-content\r\n`;
const text = "x".repeat(64);

/** 1,000 rows per partition, so that a partition query returns the same number at any size. */
function keysOf(index: number): { readonly partition: string; readonly row: string } {
  const partition = `p${Math.floor(index / rowsOfPartition)}`;
  return { partition, row: `r${String(index).padStart(9, "0")}` };
}

function pathOf({ name }: Site, index: number): string {
  const { partition, row } = keysOf(index);
  return `${name}(PartitionKey='${partition}',RowKey='${row}')`;
}

function entity(partition: string, row: string, number: number): string {
  const values = { num: number, s: text, f: number / 3, b: true };
  return JSON.stringify({ PartitionKey: partition, RowKey: row, ...values });
}

async function createTable(target: Target, { name }: Site): Promise<void> {
  const body = JSON.stringify({ TableName: name });
  await once(target, "table", {
    method: "POST",
    path: "Tables",
    headers: quiet,
    body,
    expect: 204,
  });
}

async function fillEntities(target: Target, site: Site): Promise<void> {
  await createTable(target, site);
  const count = Math.ceil(site.stored / transactionRows);
  await fill({ target, service: "table", count }, (client, number) => {
    const first = number * transactionRows;
    const entities = Array.from({ length: transactionRows }, (_, offset) => {
      const { partition, row } = keysOf(first + offset);
      return entity(partition, row, (first + offset) % rowsOfPartition);
    });
    return transact(client, site, entities);
  });
}

/** One entity group transaction. */
async function transact(client: Client, { name }: Site, entities: readonly string[]) {
  const path = `http://127.0.0.1/devstoreaccount1/${name}`;
  const part =
    "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
    `POST ${path} HTTP/1.1\r\n${quiet}\r\n`;
  let body = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n";
  for (const one of entities) body += `${part}${one}\r\n`;
  body += "--changeset_1--\r\n--batch_1--\r\n";
  const kind = "Content-Type: multipart/mixed; boundary=batch_1\r\nAccept: application/json\r\n";
  const headers = `${kind}${versions}`;
  const answer = await client.send({ method: "POST", path: "$batch", headers, body, expect: 202 });
  const done = answer.body.toString("latin1").split("HTTP/1.1 204").length - 1;
  if (done !== entities.length) throw new Error(`${done} done: ${answer.body.toString()}`);
}

/** Inserts new rows, all into one partition or each into its own. */
function inserting({ name }: Site, partitionOf: (turn: number) => string): Step {
  let next = 0;
  const unique = `n${process.pid}`;
  return async ({ client }) => {
    const turn = next++;
    const body = entity(`${unique}${partitionOf(turn)}`, `r${turn}`, turn);
    await client.send({ method: "POST", path: name, headers: quiet, body, expect: 204 });
  };
}

function reading(site: Site): Step {
  let next = 0;
  return async ({ client }) => {
    const path = pathOf(site, anyObject(site, next++));
    await client.send({ method: "GET", path, headers: plain, expect: 200 });
  };
}

async function merging(target: Target, site: Site): Promise<{ step: Step }> {
  const etags: string[] = [];
  const place = (number: number): string => pathOf(site, spread(site, number));
  await fill({ target, service: "table", count: sharedObjects }, async (client, index) => {
    const read = { method: "GET", path: place(index), headers: plain, expect: 200 };
    etags[index] = (await client.send(read)).header("etag") ?? "";
  });
  let next = 0;
  const step: Step = async (worker) => {
    const turn = next++;
    const index = ownNumber(site, worker, turn);
    const headers = `${json}If-Match: ${etags[index] ?? ""}\r\n`;
    // The query filters by the number, so it must stay on the same side of the limit.
    const body = `{"other":${turn}}`;
    const merge = { method: "MERGE", path: place(index), headers, body, expect: 204 };
    etags[index] = (await worker.client.send(merge)).header("etag") ?? "";
  };
  return { step };
}

function transacting(site: Site): Step {
  let next = 0;
  const unique = `t${process.pid}`;
  return ({ client }) => {
    const partition = `${unique}-${next++}`;
    const entities = Array.from({ length: transactionRows }, (_, row) =>
      JSON.stringify({ PartitionKey: partition, RowKey: `r${row}`, num: row, s: "x".repeat(16) }),
    );
    return transact(client, site, entities);
  };
}

function querying({ name }: Site): Step {
  const filter = encodeURIComponent("PartitionKey eq 'p0' and num ge 500");
  const path = `${name}()?$filter=${filter}`;
  return async ({ client }) => {
    const request = { method: "GET", path, headers: plain, expect: 200 };
    const { bodyBytes } = await client.send(request);
    if (bodyBytes < 500 * 100) throw new Error(`short response: ${bodyBytes}`);
  };
}

const table = {
  service: "table",
  azurite: true,
  stored: rowsOfPartition,
  fill: fillEntities,
} as const;

export const tableScenarios: readonly Scenario[] = [
  {
    ...table,
    name: "tbl-insert-1pk",
    title: "table insert, one partition",
    start: async (_, site) => ({ step: inserting(site, () => "") }),
  },
  {
    ...table,
    name: "tbl-insert-Npk",
    title: "table insert, many partitions",
    start: async (_, site) => ({ step: inserting(site, (turn) => `-${turn}`) }),
  },
  {
    ...table,
    name: "tbl-get",
    title: "table point get",
    start: async (_, site) => ({ step: reading(site) }),
  },
  { ...table, name: "tbl-merge", title: "table merge with If-Match", start: merging },
  {
    ...table,
    name: "egt-100",
    title: "transaction of 100",
    start: async (_, site) => ({ step: transacting(site) }),
  },
  {
    ...table,
    name: "tbl-query-1000",
    title: "query of 1,000 with a filter",
    start: async (_, site) => ({ step: querying(site) }),
  },
];
