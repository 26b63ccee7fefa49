import { createHmac } from "node:crypto";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import type { ServiceName } from "../../src/protocol/names.ts";
import type { Answer } from "./answer-reader.ts";
import { Connection } from "./connection.ts";

export interface Request {
  readonly method: string;
  /** Path below the account, with the query. */
  readonly path: string;
  /** Header lines, each with CRLF. */
  readonly headers?: string;
  readonly body?: Buffer | string;
  /** Expected status; another one fails the run. */
  readonly expect: number;
  /** A second accepted status. */
  readonly orElse?: number;
}

/** A client that sends one request at a time. */
export interface Client {
  /** Connects before the first request, so that no handshake is measured. */
  open(): Promise<void>;
  send(request: Request): Promise<Answer>;
  close(): void;
}

/** A server under load, with or without sockets. */
export interface Target {
  readonly name: string;
  /** Number of clients that fill it fastest. */
  readonly fillers: number;
  connect(service: ServiceName): Client;
}

/** Addresses of a server, sent to the load generator. */
export interface Address {
  readonly name: string;
  readonly secure: boolean;
  readonly ports: Readonly<Partial<Record<ServiceName, number>>>;
}

export const version = "2021-12-02";
/** One account SAS for all requests: signing each would cost client CPU. */
export const accountSas = makeAccountSas();

/** Requests sent by all clients of this process. */
export const sent = { requests: 0 };

export function targetAt({ name, secure, ports }: Address): Target {
  return {
    name,
    fillers: 64,
    connect(service) {
      const port = ports[service];
      if (port === undefined) throw new Error(`${name} does not serve ${service}`);
      return new HttpClient(new Connection({ port, secure }), port);
    },
  };
}

class HttpClient implements Client {
  readonly #connection: Connection;
  readonly #common: string;

  constructor(connection: Connection, port: number) {
    this.#connection = connection;
    const lines = `Host: 127.0.0.1:${port}\r\nx-ms-version: ${version}\r\n`;
    this.#common = `${accountSas} HTTP/1.1\r\n${lines}`;
  }

  async open(): Promise<void> {
    await this.#connection.open();
  }

  async send(request: Request): Promise<Answer> {
    const { method, path, headers = "", body } = request;
    const separator = path.includes("?") ? "&" : "?";
    const isLong = body !== undefined || method === "PUT" || method === "PATCH";
    const length = isLong ? `Content-Length: ${body?.length ?? 0}\r\n` : "";
    const start = `${method} /${developmentAccountName}/${path}${separator}${this.#common}`;
    sent.requests += 1;
    const answer = await this.#connection.send(`${start}${headers}${length}\r\n`, body);
    return checked(request, answer);
  }

  close(): void {
    this.#connection.close();
  }
}

export function checked({ method, path, expect, orElse }: Request, answer: Answer): Answer {
  const { status, body } = answer;
  if (status === expect || status === orElse) return answer;
  throw new Error(`${method} ${path}: ${status} ${body.toString().slice(0, 300)}`);
}

/** Runs `work` for 0 … count-1 with a few clients, to fill a server before measuring. */
export async function fill(
  { target, service, count }: { target: Target; service: ServiceName; count: number },
  work: (client: Client, index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const fillers = Array.from({ length: Math.min(target.fillers, count) }, async () => {
    const client = target.connect(service);
    while (next < count) await work(client, next++);
    client.close();
  });
  await Promise.all(fillers);
}

export async function once(target: Target, service: ServiceName, request: Request) {
  const client = target.connect(service);
  const answer = await client.send(request);
  client.close();
  return answer;
}

function makeAccountSas(): string {
  const signed = "2019-12-12";
  const fields = { sp: "rwdlacupxtf", ss: "bqtf", srt: "sco", se: "2099-01-01T00:00:00Z" };
  const { sp, ss, srt, se } = fields;
  const text = [developmentAccountName, sp, ss, srt, "", se, "", "", signed, ""].join("\n");
  const key = Buffer.from(developmentAccountKey, "base64");
  const sig = createHmac("sha256", key).update(text).digest("base64");
  return String(new URLSearchParams({ sv: signed, ...fields, sig }));
}
