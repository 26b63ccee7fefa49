import { createHmac } from "node:crypto";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { Connection } from "./connection.ts";
import type { Answer } from "./connection.ts";

export interface Request {
  readonly method: string;
  /** Below the account, with the query if there is one. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly expect: readonly number[];
}

/** A server under load. One account SAS for all requests: signing each would measure the client. */
export class Target {
  readonly name: string;
  readonly pid: number;
  readonly #port: number;
  readonly #sas = accountSas();

  constructor(name: string, url: string, pid: number) {
    this.name = name;
    this.pid = pid;
    this.#port = Number(new URL(url).port);
  }

  connect(): Connection {
    return new Connection(this.#port);
  }

  async send(connection: Connection, request: Request): Promise<Answer> {
    const { method, path, headers = {}, body, expect } = request;
    const separator = path.includes("?") ? "&" : "?";
    const length = body?.length ?? (method === "PUT" ? 0 : undefined);
    let head = `${method} /${developmentAccountName}/${path}${separator}${this.#sas} HTTP/1.1\r\n`;
    head += `Host: 127.0.0.1:${this.#port}\r\nx-ms-version: 2021-12-02\r\n`;
    for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
    if (length !== undefined) head += `Content-Length: ${length}\r\n`;
    const answer = await connection.send(`${head}\r\n`, body);
    if (expect.includes(answer.status)) return answer;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString().slice(0, 200)}`);
  }

  /** Runs `work` for 0 … count-1 over a few connections: to fill a server before it is measured. */
  async fill(count: number, work: (connection: Connection, index: number) => Promise<unknown>) {
    let next = 0;
    const fillers = Array.from({ length: 16 }, async () => {
      const connection = this.connect();
      while (next < count) await work(connection, next++);
      connection.close();
    });
    await Promise.all(fillers);
  }
}

function accountSas(): string {
  const version = "2019-12-12";
  const fields = { sp: "rwdlacuptf", ss: "bqtf", srt: "sco", se: "2099-01-01T00:00:00Z" };
  const { sp, ss, srt, se } = fields;
  const text = [developmentAccountName, sp, ss, srt, "", se, "", "", version, ""].join("\n");
  const key = Buffer.from(developmentAccountKey, "base64");
  const sig = createHmac("sha256", key).update(text).digest("base64");
  return String(new URLSearchParams({ sv: version, ...fields, sig }));
}
