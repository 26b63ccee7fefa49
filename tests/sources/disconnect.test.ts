import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { accountSas, version } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";
import { contents, copyOperations, makeTargets, type Clients } from "./copy-operations.ts";
import { loopbackServer } from "./loopback-server.ts";

const held = testServer({ allowedSources: "127.0.0.0/8" });
let arrived = (_response: ServerResponse): void => {};
let clients: Clients;

/** Sends at most a part of its response, then nothing while connected. */
const slow = loopbackServer((request, response) => {
  if (request.url === "/begun") {
    response.writeHead(200, { "content-length": 100_000 });
    if (request.method === "GET") response.write(Buffer.alloc(1000));
  }
  arrived(response);
});

beforeAll(async () => {
  clients = await makeTargets(held.server);
});
beforeEach(() => {
  arrived = () => {};
});

async function send(url: string, path: string, headers: Record<string, string>): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  const target = `/devstoreaccount1${path}${path.includes("?") ? "&" : "?"}${accountSas()}`;
  const all = { Host: "localhost", "x-ms-version": version, "Content-Length": "0", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write(`PUT ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

const endings = {
  "closes its connection": (socket: Socket) => socket.end(),
  "breaks its connection": (socket: Socket) => socket.resetAndDestroy(),
};
const beginnings = ["/silent", "/begun"];

describe.each(copyOperations)("$name", ({ asks, service, call }) => {
  const cases = Object.keys(endings).flatMap((ending) =>
    beginnings
      .filter((path) => path === "/silent" || asks === "GET")
      .map((path) => [ending, path] as const),
  );

  it.each(cases)("stops when its client %s, source %s", async (ending, path) => {
    const before = await contents(clients);
    const reached = new Promise<ServerResponse>((resolve) => {
      arrived = resolve;
    });
    const source = `http://127.0.0.1:${slow.port}${path}`;
    const { path: target, headers } = call(source);
    const client = await send(held.server.urls[service] ?? "", target, { ...headers });
    const response = await reached;
    const closed = once(response, "close");
    endings[ending as keyof typeof endings](client);
    await closed;
    expect(response.writableFinished).toBe(false);
    expect(await contents(clients)).toEqual(before);
  });
});
