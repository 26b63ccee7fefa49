import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startCommand } from "../cli/start-command.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { command, startWorkers } from "./worker-server.ts";

/** Each test starts several processes. */
const timeoutMilliseconds = 180_000;
const folder = temporaryFolder();
const request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/** A connection that is accepted and then ignored must fail the test, not hang it. */
const answerMillisecondsMax = 60_000;

/** Connects and sends a request at once. Returns the first bytes of the response, or undefined if
 *  the port is closed. */
async function firstAnswer(port: number): Promise<string | undefined> {
  const socket = connect({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") return undefined;
    throw error;
  }
  socket.setTimeout(answerMillisecondsMax, () => socket.destroy(new Error("no answer")));
  socket.write(request);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return bytes.toString("latin1").slice(0, "HTTP/1.1".length);
}

async function answerOnceOpen(port: number): Promise<string> {
  for (;;) {
    const answer = await firstAnswer(port);
    if (answer !== undefined) return answer;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

it(
  "answers clients that connect as soon as a port is open",
  async () => {
    const services = ["blob", "queue", "table", "file", "dfs", "admin"];
    const ports = await Promise.all(services.map(() => freePort()));
    const chosen = services.map((service, index) => `--${service}Port=${ports[index]}`);
    const location = `--location=${join(folder, "start")}`;
    const words = [...chosen, "--smbPort=0", "--workers=2", "--silent", location];
    const answers = Promise.all(ports.map((port) => answerOnceOpen(port).catch(String)));
    const server = await startCommand([...command, ...words]);
    try {
      expect(await answers).toEqual(services.map(() => "HTTP/1.1"));
    } finally {
      await server.end();
    }
  },
  timeoutMilliseconds,
);

it(
  "answers clients that connect while all workers are being replaced",
  async () => {
    const server = await startWorkers(join(folder, "replaced"), "--silent");
    try {
      const ports = ["blob", "table", "admin"].map((name) =>
        Number(new URL(server.urlOf(name)).port),
      );
      const { processes } = await server.workers();
      for (const { pid } of processes) process.kill(pid, "SIGKILL");
      // One after the other, so that some connect before the supervisor knows of the end.
      const answers: Promise<unknown>[] = [];
      for (let round = 0; round < 20; round += 1) {
        answers.push(...ports.map((port) => firstAnswer(port).catch(String)));
        await new Promise(setImmediate);
      }
      expect(new Set(await Promise.all(answers))).toEqual(new Set(["HTTP/1.1"]));
    } finally {
      await server.end();
    }
  },
  timeoutMilliseconds,
);
