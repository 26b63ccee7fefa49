import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { developmentAccountName } from "../../../src/account/settings.ts";
import {
  accountSas,
  idleMillisecondsMax,
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
  /** Whether it consumes what was prepared, which is then prepared for each measurement. */
  readonly isPreparedAgain?: true;
  /** Prepares stored data; the returned function is measured. */
  prepare(clients: StallClients): Promise<() => Promise<unknown>>;
}

const connectionsMax = 64;

export function stallClients(server: StallServer): StallClients {
  const client = (url: string): RawClient =>
    rawClient(
      url,
      new Agent({ keepAlive: true, maxSockets: connectionsMax, timeout: idleMillisecondsMax }),
    );
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

export async function isPresent(client: RawClient, path: string): Promise<boolean> {
  return (await client.send({ method: "HEAD", path })).status === 200;
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

const statusPattern = /HTTP\/1\.1 (\d)\d\d/g;
const statusCharacters = "HTTP/1.1 200".length;

/** Resolves after this many responses, whose bodies must not contain a status line. Rejects if one
 *  is an error. */
export function answersOf(socket: Socket, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = 0;
    let rest = "";
    const onClose = (): void => reject(new Error(`closed after ${seen} of ${count} answers`));
    const onData = (chunk: Buffer): void => {
      const text = rest + chunk.toString("latin1");
      let read = 0;
      for (const { 0: status, 1: digit, index } of text.matchAll(statusPattern)) {
        seen += 1;
        read = index + status.length;
        if (digit !== "2") reject(new Error(`answer ${seen}: ${text.slice(index, index + 600)}`));
      }
      // A status line may span two chunks.
      rest = text.slice(Math.max(read, text.length - statusCharacters + 1));
      if (seen < count) return;
      socket.off("data", onData).off("close", onClose);
      resolve();
    };
    socket.on("data", onData).on("close", onClose);
  });
}

const fillConnections = 8;
const fillPipelined = 64;

/**
 * Stores many records with little CPU time: requests are pipelined, and only the status lines of
 * the responses are read.
 */
export async function storeMany(
  url: string,
  count: number,
  call: (index: number) => RawCall,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    const socket = await openSocket(url);
    while (next < count) {
      const group: Buffer[] = [];
      for (; group.length < fillPipelined && next < count; next += 1) {
        group.push(requestText(call(next)));
      }
      const answers = answersOf(socket, group.length);
      socket.write(Buffer.concat(group));
      await answers;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: fillConnections }, work));
}
