import { developmentAccountName } from "../../../src/account/settings.ts";
import { must, textOf, type KillWorkload } from "../kill-workload.ts";

const table = "killspartition";
const rows = 100;
const textLength = 120;
const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };

interface StoredEntity {
  readonly RowKey: string;
  readonly version: string;
  readonly text: string;
}

/** A hundred entities that are replaced in one transaction. */
export const partition: KillWorkload = {
  name: "transaction",
  async setUp({ table: client }) {
    const body = JSON.stringify({ TableName: table });
    await must(client, { method: "POST", path: "/Tables", headers: json, body }, 201);
  },
  next(key, _state, turn) {
    const version = String(turn);
    return {
      state: version,
      writes: rows,
      async send({ table: client }) {
        const headers = { "content-type": "multipart/mixed; boundary=batch" };
        const call = { method: "POST", path: "/$batch", headers, body: batchOf(key, version) };
        const { body } = await must(client, call, 202);
        const done = body.toString().split("HTTP/1.1 204").length - 1;
        if (done !== rows) throw new Error(`POST /$batch: 202 with ${done} parts done`);
      },
    };
  },
  async look({ table: client }, key) {
    const filter = encodeURIComponent(`PartitionKey eq '${key}'`);
    const path = `/${table}()?$filter=${filter}`;
    const { body } = await must(client, { method: "GET", path, headers: json }, 200);
    const { value } = JSON.parse(body.toString()) as { value: readonly StoredEntity[] };
    return (state) =>
      state === undefined
        ? value.length === 0
        : value.length === rows && value.every((entity) => isWhole(key, state, entity));
  },
};

function isWhole(key: string, version: string, entity: StoredEntity): boolean {
  return entity.version === version && entity.text === textIn(key, version, entity.RowKey);
}

function textIn(key: string, version: string, row: string): string {
  return textOf(`${key}/${row}`, version, textLength);
}

function batchOf(key: string, version: string): string {
  const parts = Array.from({ length: rows }, (_, index) => {
    const row = String(index).padStart(3, "0");
    const path = `/${table}(PartitionKey='${key}',RowKey='${row}')`;
    return [
      "--changes",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary",
      "",
      `PUT http://localhost/${developmentAccountName}${path} HTTP/1.1`,
      "Content-Type: application/json",
      "",
      JSON.stringify({ version, text: textIn(key, version, row) }),
      "",
    ].join("\r\n");
  });
  const set = `Content-Type: multipart/mixed; boundary=changes\r\n\r\n${parts.join("")}--changes--`;
  return `--batch\r\n${set}\r\n\r\n--batch--\r\n`;
}
