import { rawClient, type RawAnswer, type RawCall, type RawClient } from "./raw-client.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import { freshName } from "./server.ts";

/** A table client without a library. */
export interface TableWire {
  send(call: RawCall): Promise<TableAnswer>;
  newTable(): Promise<string>;
  insert(table: string, entity: object): Promise<TableAnswer>;
  /** Several writes in one transaction; each is a request head and a body. */
  transact(changes: readonly Change[]): Promise<TransactionAnswer>;
}

export interface TableAnswer extends RawAnswer {
  /** The code of an OData error. */
  readonly fault: string | undefined;
  readonly text: string;
}

export interface Change {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly entity?: object;
}

export interface TransactionAnswer extends TableAnswer {
  readonly statuses: readonly number[];
}

const json = { "content-type": "application/json", accept: "application/json;odata=nometadata" };

/** The prefix of a table's path. */
export function accountUrl(url: string): string {
  return `${url.replace(/\/$/, "")}/${developmentAccountName}`;
}

export function tableWire(url: () => string): TableWire {
  let client: RawClient | undefined;
  const send = async (call: RawCall): Promise<TableAnswer> => {
    client ??= rawClient(url());
    const answer = await client.send({ ...call, headers: { ...json, ...call.headers } });
    const text = answer.body.toString();
    return { ...answer, text, fault: /"code":"(\w+)"/.exec(text)?.[1] };
  };
  return {
    send,
    newTable: async () => {
      const table = freshName("table");
      await send({ method: "POST", path: "/Tables", body: JSON.stringify({ TableName: table }) });
      return table;
    },
    insert: (table, entity) =>
      send({ method: "POST", path: `/${table}`, body: JSON.stringify(entity) }),
    transact: async (changes) => {
      const { body, headers } = batchOf(
        changes.map((change) => changeText(accountUrl(url()), change)),
      );
      const answer = await send({ method: "POST", path: "/$batch", body, headers });
      const statuses = [...answer.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => +match[1]!);
      return { ...answer, statuses };
    },
  };
}

function changeText(url: string, { method, path, headers = {}, entity }: Change): string {
  const lines = Object.entries({ ...json, ...headers }).map(([name, value]) => `${name}: ${value}`);
  const body = entity === undefined ? "" : JSON.stringify(entity);
  return [`${method} ${url}${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

export function batchOf(parts: readonly string[]) {
  const head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n";
  const changes = parts.map((part) => `--c\r\n${head}${part}\r\n`).join("");
  const set = `Content-Type: multipart/mixed; boundary=c\r\n\r\n${changes}--c--\r\n`;
  const headers = { "content-type": "multipart/mixed; boundary=b" };
  return { body: `--b\r\n${set}\r\n--b--\r\n`, headers };
}
