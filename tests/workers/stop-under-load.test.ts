import { Agent, request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAdminAddress } from "../../src/server/admin-address.ts";
import { startCommand } from "../cli/start-command.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { command, freePorts, startWorkers } from "./worker-server.ts";
import { inForm } from "../harness/long-form.ts";

/** Each test starts up to four processes. */
const timeoutMilliseconds = 180_000;
const folder = temporaryFolder();
const clientCount = 16;
const responsesMin = 10;

/** Sends requests on connections of its own until a connection is refused. */
class Client {
  responses = 0;
  /** Connection headers of the responses. */
  readonly connections: string[] = [];
  readonly failures: string[] = [];
  readonly #agent: Agent;
  readonly #url: string;

  constructor(url: string, keepAlive: boolean) {
    this.#url = `${url}/devstoreaccount1/none?restype=container`;
    this.#agent = new Agent({ keepAlive, maxSockets: 1 });
  }

  async run(): Promise<void> {
    for (;;) {
      try {
        const { headers } = await this.#send();
        this.responses += 1;
        this.connections.push(headers.connection ?? "");
      } catch (error) {
        // Refused, or reset before the server has accepted it: no request was sent.
        if ((error as NodeJS.ErrnoException).syscall === "connect") break;
        this.failures.push(String(error));
      }
    }
    this.#agent.destroy();
  }

  #send(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(this.#url, { agent: this.#agent }, (response) => {
        response.resume().on("end", () => resolve(response));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end();
    });
  }
}

async function untilBusy(clients: readonly Client[]): Promise<void> {
  while (clients.some(({ responses }) => responses < responsesMin)) {
    await new Promise((elapsed) => setTimeout(elapsed, 10));
  }
}

const combinations = [
  { workers: 1, keepAlive: true },
  { workers: 2, keepAlive: false },
  { workers: 1, keepAlive: false },
  { workers: 2, keepAlive: true },
];

it.each(combinations.slice(0, inForm(2, combinations.length)))(
  "SIGTERM resets no request: workers $workers, keep-alive $keepAlive",
  async ({ workers, keepAlive }) => {
    const location = join(folder, `stop-${workers}-${keepAlive}`);
    const flags = [`--workers=${workers}`, "--silent", `--location=${location}`];
    const server = await startCommand([...command, ...freePorts, ...flags]);
    const clients = Array.from(
      { length: clientCount },
      () => new Client(server.urlOf("blob"), keepAlive),
    );
    const running = clients.map((client) => client.run());
    await untilBusy(clients);
    const exitCode = server.end("SIGTERM");
    await Promise.all(running);
    expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
    if (keepAlive) {
      for (const { connections } of clients) expect(connections.at(-1)).toBe("close");
    }
    expect(await exitCode).toBe(0);
  },
  timeoutMilliseconds,
);

/** Opens a connection and resolves when the server closes it. */
async function idleConnection(url: string): Promise<{ readonly closed: Promise<unknown> }> {
  const { hostname, port } = new URL(url);
  const socket = await new Promise<Socket>((resolve) => {
    const opened = connect(Number(port), hostname, () => resolve(opened));
  });
  return { closed: new Promise((resolve) => socket.resume().on("close", resolve)) };
}

it(
  "SIGTERM closes connections without requests",
  async () => {
    const flags = ["--silent", "--inMemoryPersistence"];
    const server = await startCommand([...command, ...freePorts, ...flags]);
    const { closed } = await idleConnection(server.urlOf("blob"));
    expect(await server.end("SIGTERM")).toBe(0);
    await closed;
  },
  timeoutMilliseconds,
);

it(
  "another worker serves the admin listener and SMB when the main worker is killed",
  async () => {
    const location = join(folder, "main");
    const server = await startWorkers(location, "--silent");
    const before = await readAdminAddress(location);
    const { processes } = await server.workers();
    const other = processes.find(({ pid }) => pid !== before?.pid);
    process.kill(before?.pid ?? 0, "SIGKILL");
    // The address of an ended process stays until another has written its own.
    let now = before;
    while (now === undefined || now.pid === before?.pid) now = await readAdminAddress(location);
    expect(now).toMatchObject({ url: before?.url, pid: other?.pid });
    const { processes: found } = await server.workers();
    expect(found.map(({ pid }) => pid)).toContain(other?.pid);
    await idleConnection(server.urlOf("smb").replace("smb:", "tcp:"));
    await server.workersUntil(({ processes: all, restarts }) => all.length === 2 && restarts === 1);
    expect(await server.end()).toBe(0);
  },
  timeoutMilliseconds,
);
