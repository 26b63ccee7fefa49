import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { developmentAccountName } from "../../../src/account/settings.ts";
import {
  accountSas,
  rawClient,
  version,
  type RawAnswer,
  type RawCall,
  type RawClient,
} from "../../harness/raw-client.ts";
import type { StallServer } from "../loop-stall.ts";

/** Clients and helpers for preparing and sending abusive requests. */
export interface StallClients {
  readonly blob: RawClient;
  readonly queue: RawClient;
  readonly table: RawClient;
  readonly file: RawClient;
  readonly server: StallServer;
}

/** A request or disconnect with which one client causes as much work as possible. */
export interface AbusiveInput {
  readonly name: string;
  /**
   * Measured once if it consumes what was prepared. Otherwise the shortest of several measurements
   * counts, because garbage collection and other processes only add.
   */
  readonly isOnce?: true;
  /** Prepares stored data; the returned function is measured. */
  prepare(clients: StallClients): Promise<() => Promise<unknown>>;
}

const connectionsMax = 32;

export function stallClients(server: StallServer): StallClients {
  const client = (url: string): RawClient =>
    rawClient(url, new Agent({ keepAlive: true, maxSockets: connectionsMax }));
  return {
    blob: client(server.urls.blob),
    queue: client(server.urls.queue),
    table: client(server.urls.table),
    file: client(server.urls.file),
    server,
  };
}

/** A rejected request would prove nothing. */
export async function expectStatus(client: RawClient, status: number, call: RawCall) {
  const answer = await client.send(call);
  if (answer.status !== status) {
    const text = answer.body.toString("utf8").slice(0, 300);
    const { method, path } = call;
    throw new Error(`${method} ${path.slice(0, 100)}: ${answer.status} ${answer.code} ${text}`);
  }
  return answer;
}

/** Sends many requests, as many concurrently as there are connections. */
export async function sendAll(
  client: RawClient,
  count: number,
  call: (index: number) => RawCall,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const answer: RawAnswer = await client.send(call(index));
      if (answer.status >= 300) {
        throw new Error(`request ${index}: ${answer.status} ${answer.body.toString()}`);
      }
    }
  };
  await Promise.all(Array.from({ length: connectionsMax }, work));
}

const sas = accountSas();

/** The text of a request for a raw socket. */
export function requestText({ method, path, headers = {}, body = "" }: RawCall): Buffer {
  const target = `/${developmentAccountName}${path}${path.includes("?") ? "&" : "?"}${sas}`;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: 127.0.0.1",
    `x-ms-version: ${version}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.on("error", reject);
  });
}

/** Resolves after this many responses. */
export function answersOf(socket: Socket, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    let rest = "";
    socket.on("data", (chunk: Buffer) => {
      const text = rest + chunk.toString("latin1");
      seen += text.split("HTTP/1.1 ").length - 1;
      // A status line may span two chunks; a complete one is longer than the kept tail.
      rest = text.slice(-8);
      if (seen >= count) resolve();
    });
    socket.on("close", () => reject(new Error(`closed after ${seen} of ${count} answers`)));
  });
}
