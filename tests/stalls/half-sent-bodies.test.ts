import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSocket, requestText, stallClients } from "./inputs/stall-client.ts";
import { startStallServer, type StallServer } from "./loop-stall.ts";

const clients = 300;
const bodyBytes = 4 * 1024 * 1024;
/** Memory of an idle server, the limit of bodies, and as much again for the garbage collector. */
const residentBytesMax = 700 * 1024 * 1024;

/** Memory of an idle server after its bodies were freed. */
const residentBytesAfterMax = 300 * 1024 * 1024;
const measurementsMax = 10;

let server: StallServer;
const sockets: Socket[] = [];

beforeAll(async () => {
  server = await startStallServer({ flags: ["--silent"] });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

const batch = (body: Buffer) =>
  requestText({
    method: "POST",
    path: "/?comp=batch",
    headers: { "Content-Type": "multipart/mixed; boundary=b" },
    body: body.toString("latin1"),
  });

/** Sends all but the last byte; resolves when that is sent, or with the response. */
async function sendHalf(text: Buffer): Promise<string> {
  const socket = await openSocket(server.urls.blob);
  sockets.push(socket);
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1")));
    socket.write(text.subarray(0, text.length - 1), () => resolve(""));
  });
}

/** Memory after the server was idle; measured again while the limit is exceeded, because each
 *  measurement begins with a garbage collection, and the first ones may be before the server has
 *  seen that all connections are closed. */
async function smallestResidentBytes(): Promise<number> {
  let smallest = Infinity;
  for (let round = 0; round < measurementsMax && smallest >= residentBytesAfterMax; round += 1) {
    const { residentBytes } = await server.measure(async () => {});
    smallest = Math.min(smallest, residentBytes);
  }
  return smallest;
}

it("300 incomplete bodies leave memory for other requests", async () => {
  const text = batch(Buffer.alloc(bodyBytes, "x"));
  const { blob } = stallClients(server);
  const { residentBytes } = await server.measure(async () => {
    const answers = await Promise.all(Array.from({ length: clients }, () => sendHalf(text)));
    // Requests beyond the memory limit get an error; other requests are served meanwhile.
    expect(answers.filter((answer) => answer.startsWith("HTTP/1.1 503 ")).length).toBeGreaterThan(
      50,
    );
    const made = await blob.send({ method: "PUT", path: "/made?restype=container" });
    expect(made.status).toBe(201);
  });
  expect(residentBytes).toBeLessThan(residentBytesMax);
  for (const socket of sockets) socket.destroy();
  const again = await blob.send({
    method: "POST",
    path: "/?comp=batch",
    headers: { "content-type": "multipart/mixed; boundary=b" },
    body: Buffer.alloc(bodyBytes, "x"),
  });
  expect([400, 503]).toContain(again.status);
  // The memory of the bodies is returned to the operating system.
  expect(await smallestResidentBytes()).toBeLessThan(residentBytesAfterMax);
});
