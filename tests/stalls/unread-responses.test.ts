import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  expectStatus,
  openSocket,
  requestText,
  stallClients,
  storeMany,
} from "./inputs/stall-client.ts";
import { startStallServer, type StallServer } from "./loop-stall.ts";

const clients = 250;
const mebibyte = 1024 * 1024;
/** Memory of an idle server, the limit of responses, and as much again for the garbage
 *  collector. */
const residentBytesMax = 700 * mebibyte;

let server: StallServer;
const sockets: Socket[] = [];

beforeAll(async () => {
  server = await startStallServer({ flags: ["--silent"] });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

const metadata = Object.fromEntries(
  Array.from({ length: 10 }, (_, at) => [`x-ms-meta-name${at}`, "v".repeat(700)]),
);
const list = {
  method: "GET",
  path: "/listed?restype=container&comp=list&include=metadata",
};

it("listings of 3 MB that 250 clients do not read take a bounded amount of memory", async () => {
  const { blob } = stallClients(server);
  await expectStatus(blob, 201, { method: "PUT", path: "/listed?restype=container" });
  await storeMany(server.urls.blob, 400, (index) => ({
    method: "PUT",
    path: `/listed/${index}`,
    headers: { "x-ms-blob-type": "BlockBlob", ...metadata },
  }));
  const { body } = await expectStatus(blob, 200, list);
  expect(body.length).toBeGreaterThan(2.5 * mebibyte);
  const { residentBytes } = await server.measure(async () => {
    for (let count = 0; count < clients; count += 1) {
      const socket = await openSocket(server.urls.blob);
      sockets.push(socket.on("error", () => {}).pause());
      socket.write(requestText(list));
    }
    const made = await blob.send({ method: "PUT", path: "/made?restype=container" });
    expect(made.status).toBe(201);
  });
  expect(residentBytes).toBeLessThan(residentBytesMax);
  for (const socket of sockets) socket.destroy();
  await server.measure(async () => {});
  await expectStatus(blob, 200, list);
});
