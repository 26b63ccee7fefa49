import { expectStatus, sendAll, type AbusiveInput, type StallClients } from "./stall-client.ts";

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };
const newTable = (name: string) => ({
  method: "POST",
  path: "/Tables",
  headers: json,
  body: JSON.stringify({ TableName: name }),
});
const query = (table: string, options: string, accept = json.accept) => ({
  method: "GET",
  path: `/${table}()?${options}`,
  headers: { accept },
});

function changeSet(count: number, entityOf: (index: number) => object, table: string): string {
  let parts = "";
  for (let index = 0; index < count; index += 1) {
    parts +=
      "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
      `POST http://127.0.0.1/devstoreaccount1/${table} HTTP/1.1\r\n` +
      "Content-Type: application/json\r\nAccept: application/json\r\n" +
      `Prefer: return-no-content\r\n\r\n${JSON.stringify(entityOf(index))}\r\n`;
  }
  return `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${parts}--c--\r\n--b--\r\n`;
}

const transaction = (body: string) => ({
  method: "POST",
  path: "/$batch",
  headers: { "content-type": "multipart/mixed; boundary=b", accept: "application/json" },
  body,
});

const rowsMax = 20_000;
const properties = Object.fromEntries(
  Array.from({ length: 200 }, (_, at) => [`property${at}`, `value ${at}`]),
);

const few = { a: "text", b: 1, c: true };
/** The table of `rowsMax` rows; another one after each deletion. */
let rowsTable = "rows";
let tablesDeleted = 0;
/** Transactions insert entities, so each one needs keys of its own. */
let transactions = 0;

async function createRows({ table }: StallClients): Promise<void> {
  await expectStatus(table, 201, newTable(rowsTable));
  await sendAll(table, rowsMax / 100, (at) => {
    const entity = (index: number) => ({ PartitionKey: `p${at}`, RowKey: `${index}`, ...few });
    return transaction(changeSet(100, entity, rowsTable));
  });
}

function prepareTransaction({ table }: StallClients, fields: object): () => Promise<unknown> {
  transactions += 1;
  const PartitionKey = `transaction${transactions}`;
  const entity = (index: number) => ({ PartitionKey, RowKey: `${index}`, ...fields });
  const body = changeSet(100, entity, "wide");
  return async () => {
    const { body: answer } = await expectStatus(table, 202, transaction(body));
    const inserted = answer.toString().split("HTTP/1.1 204").length - 1;
    if (inserted !== 100) throw new Error(`inserted ${inserted} of 100: ${answer.toString()}`);
  };
}

export const tableInputs: readonly AbusiveInput[] = [
  {
    name: "Query Entities with a filter of 16 kB over 20,000 rows",
    async prepare(clients) {
      const { table } = clients;
      await createRows(clients);
      const filter = Array.from({ length: 1100 }, (_, at) => `z eq ${at}`).join(" or ");
      const options = `$filter=${encodeURIComponent(filter)}`;
      return () => expectStatus(table, 200, query("rows", options));
    },
  },
  {
    name: "Query Entities with a filter that reads every property",
    async prepare({ table }) {
      const filter = Array.from({ length: 60 }, () => "missing ne 'a'").join(" or ");
      const options = `$filter=${encodeURIComponent(filter)}`;
      return () => expectStatus(table, 200, query("rows", options));
    },
  },
  {
    name: "Query Entities with a filter of nested parentheses",
    async prepare({ table }) {
      const filter = `${"(".repeat(8000)}a eq 1${")".repeat(8000)}`;
      return () => table.send(query("rows", `$filter=${encodeURIComponent(filter)}`));
    },
  },
  {
    name: "Query Entities with a filter on many keys",
    async prepare({ table }) {
      const keys = Array.from({ length: 60 }, (_, at) => `(PartitionKey eq 'p${at}')`).join(" or ");
      const filter = `(${keys}) and (${keys}) and (${keys})`;
      const options = `$filter=${encodeURIComponent(filter)}`;
      return () => expectStatus(table, 200, query("rows", options));
    },
  },
  {
    name: "Query Entities of 1,000 wide rows",
    async prepare({ table }) {
      await expectStatus(table, 201, newTable("wide"));
      await sendAll(table, 50, (at) => {
        const entity = (index: number) => ({
          PartitionKey: `p${at}`,
          RowKey: `${index}`,
          ...properties,
        });
        return transaction(changeSet(20, entity, "wide"));
      });
      return () => expectStatus(table, 200, query("wide", ""));
    },
  },
  {
    name: "Query Entities of 1,000 wide rows with full metadata",
    async prepare({ table }) {
      const accept = "application/json;odata=fullmetadata";
      return () => expectStatus(table, 200, query("wide", "", accept));
    },
  },
  {
    name: "Query Entities with a long selection",
    async prepare({ table }) {
      const names = Array.from({ length: 900 }, (_, at) => `property${at}`).join(",");
      return () => table.send(query("wide", `$select=${names}`));
    },
  },
  {
    name: "Entity Group Transaction of 100 large entities",
    isPreparedAgain: true,
    async prepare(clients) {
      return prepareTransaction(clients, { a: "x".repeat(20_000), b: "y".repeat(18_000) });
    },
  },
  {
    name: "Entity Group Transaction of 100 wide entities",
    isPreparedAgain: true,
    async prepare(clients) {
      const wide = Object.fromEntries(
        Array.from({ length: 250 }, (_, at) => [`property${at}`, `value ${at} ${"z".repeat(100)}`]),
      );
      return prepareTransaction(clients, wide);
    },
  },
  {
    name: "Entity Group Transaction with headers of blanks",
    async prepare({ table }) {
      const part = `--c\r\nA: a${"\t".repeat(65_000)}b\r\n\r\n\r\n`;
      const head = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n";
      return () => table.send(transaction(`${head}${part}--c--\r\n--b--\r\n`));
    },
  },
  {
    name: "Insert Entity of deep JSON",
    async prepare({ table }) {
      const body = `{"PartitionKey":"d","RowKey":"d","a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
      return () => table.send({ method: "POST", path: "/wide", headers: json, body });
    },
  },
  {
    name: "Insert Entity of 100,000 properties",
    async prepare({ table }) {
      const names = Array.from({ length: 80_000 }, (_, at) => `"p${at}":1`).join(",");
      const body = `{"PartitionKey":"d","RowKey":"d",${names}}`;
      return () => table.send({ method: "POST", path: "/wide", headers: json, body });
    },
  },
  {
    name: "a path of quotes",
    async prepare({ table }) {
      return () => table.send({ method: "GET", path: `/t(${"'".repeat(5001)}x` });
    },
  },
  {
    name: "Insert Entity of a number with 30,000 digits",
    async prepare({ table }) {
      const value = `"a@odata.type":"Edm.Double","a":"${"1".repeat(32_000)}x"`;
      const body = `{"PartitionKey":"d","RowKey":"d",${value}}`;
      return () => table.send({ method: "POST", path: "/wide", headers: json, body });
    },
  },
  {
    name: "Insert Entity of escaped characters",
    async prepare({ table }) {
      const body = `{"PartitionKey":"d","RowKey":"d","a":"${"\\u0041".repeat(32_000)}"}`;
      return () => table.send({ method: "POST", path: "/wide", headers: json, body });
    },
  },
  {
    name: "Delete Table of 20,000 rows",
    isPreparedAgain: true,
    async prepare(clients) {
      // The first measurement has deleted it.
      if (tablesDeleted > 0) {
        rowsTable = `rows${tablesDeleted}`;
        await createRows(clients);
      }
      tablesDeleted += 1;
      const call = { method: "DELETE", path: `/Tables('${rowsTable}')`, headers: json };
      return () => expectStatus(clients.table, 204, call);
    },
  },
];
