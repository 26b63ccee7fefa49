import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { boundPipelining } from "../http/limits/connections.ts";
import { Connections } from "../http/limits/connections.ts";
import { listen, refuseMalformed } from "./listener.ts";
import type { Handler, Listener } from "./listener.ts";
import { realClock } from "../host/world.ts";

const withoutQuiet = { quietMilliseconds: 0, graceMilliseconds: 60_000 };

function listenWith(handler: Handler, connectionsMax = 100): Promise<Listener> {
  return listen({
    title: "Test",
    host: "127.0.0.1",
    port: 0,
    keepAliveSeconds: 60,
    certificate: undefined,
    handler,
    clock: realClock(),
    connections: new Connections({ clock: realClock(), connectionsMax }),
  });
}

/** Sends raw text; resolves with everything received until the server closes the connection. */
function exchange(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
  });
}

describe("stopping", () => {
  it("lets a running request finish and closes idle connections at once", async () => {
    const running = await runningRequest();
    const stopped = running.listener.stop(withoutQuiet);
    running.response.end("done");
    expect(await running.answer.then((answer) => answer.text())).toBe("done");
    await stopped;
  });

  it("closes connections whose request does not finish in time", async () => {
    const running = await runningRequest();
    const answer = expect(running.answer).rejects.toThrow();
    await running.listener.stop({ quietMilliseconds: 0, graceMilliseconds: 1 });
    await answer;
  });
});

describe("stopping with a quiet period", () => {
  const pace = { quietMilliseconds: 60_000, graceMilliseconds: 60_000 };

  it("answers a request on an idle connection and closes it then", async () => {
    const listener = await listenWith((_request, response) => response.end("ok"));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = await requestOver(agent, listener.url);
    expect(first.headers.connection).toBe("keep-alive");
    const stopped = listener.stop(pace);
    const second = await requestOver(agent, listener.url);
    expect(second.headers.connection).toBe("close");
    await stopped;
    await expect(requestOver(agent, listener.url)).rejects.toThrow("ECONNREFUSED");
  });

  it("says in the response of a running request that the connection is closed", async () => {
    const running = await runningRequest();
    const stopped = running.listener.stop(pace);
    running.response.end("done");
    expect((await running.answer).headers.get("connection")).toBe("close");
    await stopped;
  });

  it("answers all requests that a client has sent at once", async () => {
    const responses: ServerResponse[] = [];
    let arrive = (): void => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    const listener = await listenWith((request, response) => {
      boundPipelining(request, response, realClock());
      responses.push(response);
      if (responses.length === 2) arrive();
    });
    const text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const received = exchange(listener.url, text.repeat(2));
    await arrived;
    const stopped = listener.stop({ ...pace, quietMilliseconds: 1 });
    for (const response of responses) response.end("ok");
    expect((await received).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    await stopped;
  });

  it("closes quiet connections earlier if a second call asks for it", async () => {
    const listener = await listenWith((_request, response) => response.end("ok"));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await requestOver(agent, listener.url);
    const stopped = listener.stop({ quietMilliseconds: 3_600_000, graceMilliseconds: 3_600_000 });
    await listener.stop(withoutQuiet);
    await stopped;
  });

  it("closes a connection that stays quiet", async () => {
    const listener = await listenWith((_request, response) => response.end("ok"));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await requestOver(agent, listener.url);
    await listener.stop({ ...pace, quietMilliseconds: 1 });
    agent.destroy();
  });
});

function requestOver(agent: Agent, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent }, (response) => {
      response.resume().on("end", () => resolve(response));
    });
    sent.on("error", reject);
  });
}

async function runningRequest() {
  let arrive = (_response: ServerResponse): void => {};
  const arrived = new Promise<ServerResponse>((resolve) => {
    arrive = resolve;
  });
  const listener = await listenWith((_request, response) => arrive(response));
  const answer = fetch(listener.url);
  return { listener, answer, response: await arrived };
}

describe("limits", () => {
  it("reject headers beyond 32 KiB", async () => {
    const listener = await listenWith((_request, response) => response.end());
    const long = "a".repeat(33 * 1024);
    const text = `GET / HTTP/1.1\r\nHost: a\r\nx-long: ${long}\r\n\r\n`;
    expect(await exchange(listener.url, text)).toMatch(/^HTTP\/1\.1 400 /);
    await listener.stop(withoutQuiet);
  });

  it("write no second head into a response that has begun", async () => {
    const listener = await listenWith((_request, response) => {
      response.writeHead(200, { "Content-Length": 100 }).write("part");
    });
    const text = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n";
    expect(await exchange(listener.url, text)).not.toContain("400 Bad Request");
    await listener.stop(withoutQuiet);
  });

  it("reject what is not HTTP", async () => {
    const listener = await listenWith((_request, response) => response.end());
    expect(await exchange(listener.url, "nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    await listener.stop(withoutQuiet);
  });

  it.each([
    ["close a connection without a request in silence", "", /^$/],
    ["answer a request whose headers do not end", "GET / HTTP/1.1\r\nHost", /^HTTP\/1\.1 408 /],
  ])("%s", async (_, text, expected) => {
    const server = createServer({ headersTimeout: 20, connectionsCheckingInterval: 10 });
    server.on("clientError", refuseMalformed);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await exchange(`http://127.0.0.1:${port}`, text)).toMatch(expected);
    await new Promise((resolve) => server.close(resolve));
  });

  it("leave 100-continue to the handler", async () => {
    const listener = await listenWith((_request, response) => {
      response.writeHead(412, { Connection: "close" }).end();
    });
    const text = "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    expect(await exchange(listener.url, text)).toMatch(/^HTTP\/1\.1 412 /);
    await listener.stop(withoutQuiet);
  });
});
