import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryBudget } from "../../base/memory-budget.ts";
import { manualClock, type ManualClock } from "../../../tests/harness/manual-clock.ts";
import { collect } from "./body.ts";
import { Connections, progressMilliseconds } from "../limits/connections.ts";
import { nodeHandler, type Serve } from "../handler.ts";
import { BodyTooSlow } from "./request-body.ts";
import type { WireResponse } from "../wire.ts";
import { silentLog as log } from "../../../tests/harness/silent-log.ts";

const bytesMax = 4 * 1024 * 1024;

/** Takes a body into memory and answers how long it was, as the pipeline does. */
const serve: Serve = async (request) => {
  if (request.isSurplus === true) return replyOf(503, "too many");
  try {
    const body = await collect(request, bytesMax);
    return body.ok ? replyOf(200, String(body.value.length)) : replyOf(503, body.fault.code);
  } catch (error) {
    if (error instanceof BodyTooSlow) return replyOf(500, error.name);
    throw error;
  }
};

function replyOf(status: number, text: string): WireResponse {
  const headers = { "Content-Length": String(text.length) };
  return { status, headers, body: { kind: "bytes", bytes: text } };
}

interface Running {
  readonly budget: MemoryBudget;
  readonly connections: Connections;
  readonly clock: ManualClock;
  send(text: string): Promise<Client>;
  stop(): Promise<void>;
}

interface Client {
  readonly socket: Socket;
  /** So far. */
  readonly received: () => string;
  /** All that came until the server closed the connection. */
  readonly answer: Promise<string>;
}

let running: Running;

async function listening(budgetBytes: number, connectionsMax: number): Promise<Running> {
  const clock = manualClock();
  const budget = new MemoryBudget(budgetBytes);
  const connections = new Connections({ clock, connectionsMax });
  const server = createServer(nodeHandler(serve, log, { memory: budget, clock }));
  server.prependListener("connection", (socket) => connections.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    budget,
    connections,
    clock,
    async send(text) {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      let received = "";
      const answer = new Promise<string>((resolve, reject) => {
        socket.on("data", (chunk) => {
          received += chunk.toString();
        });
        socket.on("close", () => resolve(received));
        // The server may answer and close before it has read everything.
        socket.on("error", (error) => (received === "" ? reject(error) : undefined));
      });
      // A test that does not wait for the answer may end before the connection breaks.
      answer.catch(() => undefined);
      socket.write(text);
      return { socket, answer, received: () => received };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

beforeEach(async () => {
  running = await listening(1024 * 1024, 4);
});
afterEach(() => running.stop());

const head = (length: number, more = "") =>
  `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${more}\r\n`;
const half = (bytes: number) => head(2 * bytes) + "x".repeat(bytes);

/** Resolves when the server has come so far; nothing tells it when. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe("bodies in memory", () => {
  it("beyond the budget get 503, also while the client is still sending", async () => {
    const { budget } = running;
    const waiting = await running.send(half(900 * 1024));
    await until(() => budget.usedBytes >= 900 * 1024);
    const refused = await running.send(half(900 * 1024));
    refused.socket.write("x".repeat(900 * 1024));
    expect(await refused.answer).toMatch(/^HTTP\/1.1 503 .*Connection: close.*ServerBusy$/is);
    waiting.socket.write("x".repeat(900 * 1024 + 1));
    waiting.socket.destroy();
    await until(() => budget.usedBytes === 0);
  });

  it("are counted until their request ends", async () => {
    const { budget } = running;
    const whole = await running.send(head(100_000, "Connection: close\r\n") + "x".repeat(100_000));
    expect(await whole.answer).toMatch(/100000$/);
    expect(budget.usedBytes).toBe(0);
    const gone = await running.send(half(100_000));
    await until(() => budget.usedBytes >= 100_000);
    gone.socket.destroy();
    await until(() => budget.usedBytes === 0);
  });

  it("are counted by Content-Length if they are small", async () => {
    const { budget } = running;
    const { socket } = await running.send(head(60_000));
    await until(() => budget.usedBytes === 60_000);
    socket.destroy();
    await until(() => budget.usedBytes === 0);
  });

  it("count the overhead of each chunk", async () => {
    const { budget } = running;
    const start = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const { received } = await running.send(start + "1\r\nx\r\n".repeat(20_000));
    await until(() => received() !== "");
    expect(received()).toMatch(/^HTTP\/1.1 503 /);
    expect(budget.usedBytes).toBe(0);
  });
});

describe("bodies that make no progress", () => {
  it.each([
    ["in pieces", 200_000],
    ["as a whole", 20_000],
  ])("are ended (%s)", async (_, bytes) => {
    const { budget, clock } = running;
    const { answer } = await running.send(half(bytes));
    await until(() => budget.usedBytes >= bytes);
    clock.advance(progressMilliseconds);
    clock.advance(progressMilliseconds);
    // The client gets a little time to read the answer.
    await until(() => budget.usedBytes === 0);
    clock.advance(2000);
    expect(await answer).toMatch(/^HTTP\/1.1 500 .*Connection: close.*BodyTooSlow$/is);
  });
});

describe("connections beyond the maximum", () => {
  it("get 503 and are closed; the next one is served", async () => {
    const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const held = await Promise.all(Array.from({ length: 4 }, () => running.send("")));
    await until(() => running.connections.count === 4);
    const surplus = await running.send(request);
    expect(await surplus.answer).toMatch(/^HTTP\/1.1 503 .*Connection: close.*too many$/is);
    for (const { socket } of held) socket.destroy();
    await until(() => running.connections.count === 0);
    const next = await running.send(request.replace("Host", "Connection: close\r\nHost"));
    expect(await next.answer).toMatch(/^HTTP\/1.1 200 /);
  });
});
