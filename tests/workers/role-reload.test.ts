import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";
import { unsignedToken } from "../identity/unsigned-token.ts";
import { startWorkers, type WorkerServer } from "./worker-server.ts";

const timeoutMilliseconds = 180_000;
const folder = temporaryFolder();
const config = join(folder, "config.json");
const openBodyBytes = 5;

function assign(role: string): void {
  const principals = { app: { objectId: "o1" } };
  writeFileSync(
    config,
    JSON.stringify({ principals, roleAssignments: [{ principal: "app", role }] }),
  );
}

/** A connection that stays at one worker. */
class Connection {
  readonly #socket: TLSSocket;
  #received = "";

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => (this.#received += chunk.toString("latin1")));
    socket.on("error", () => {});
  }

  static async open(url: string): Promise<Connection> {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    return new Connection(socket);
  }

  /** Sends a request; without the last byte of the body if it has one. */
  begin(path: string, bodyBytes = openBodyBytes): void {
    this.#received = "";
    const lines = [
      `PUT /devstoreaccount1${path} HTTP/1.1`,
      "Host: 127.0.0.1",
      `Authorization: Bearer ${unsignedToken("o1")}`,
      "x-ms-version: 2023-11-03",
      "x-ms-blob-type: BlockBlob",
      `Content-Length: ${bodyBytes}`,
    ];
    this.#socket.write(`${lines.join("\r\n")}\r\n\r\n${"a".repeat(Math.max(0, bodyBytes - 1))}`);
  }

  /** Sends the last byte; resolves with the status of the response. */
  complete(): Promise<number> {
    this.#socket.write("a");
    return this.status();
  }

  async status(): Promise<number> {
    while (!this.#received.includes("\r\n\r\n")) await once(this.#socket, "data");
    return Number(this.#received.slice("HTTP/1.1 ".length).slice(0, 3));
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function pidsOf(server: WorkerServer): Promise<ReadonlySet<number>> {
  return new Set((await server.workers()).processes.map(({ pid }) => pid));
}

it(
  "a role that is removed by SIGHUP ends at every worker, also for requests that run",
  async () => {
    assign("Storage Blob Data Contributor");
    const { cert, key } = makeCertificate();
    const flags = [`--config=${config}`, "--oauth=basic", `--cert=${cert}`, `--key=${key}`];
    const server = await startWorkers(join(folder, "data"), "--silent", ...flags);
    const url = server.urlOf("blob");
    const first = await Connection.open(url);
    first.begin("/one?restype=container", 0);
    expect(await first.status()).toBe(201);
    first.begin("/one/early");
    expect(await first.complete()).toBe(201);
    first.close();
    const connections = await Promise.all(Array.from({ length: 8 }, () => Connection.open(url)));
    for (const [at, each] of connections.entries()) each.begin(`/one/blob${at}`);
    const before = await pidsOf(server);
    assign("Storage Blob Data Reader");
    server.child.kill("SIGHUP");
    await server.workersUntil(
      ({ processes }) => processes.length >= 2 && processes.filter(isNew(before)).length === 2,
    );
    const statuses = await Promise.all(connections.map((each) => each.complete()));
    expect(new Set(statuses)).toEqual(new Set([403]));
    for (const each of connections) each.close();
    expect(await server.end()).toBe(0);
  },
  timeoutMilliseconds,
);

function isNew(before: ReadonlySet<number>) {
  return ({ pid }: { readonly pid: number }): boolean => !before.has(pid);
}
