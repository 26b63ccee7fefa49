import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { PagedText } from "../encoding/paged-text.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { realClock } from "../host/world.ts";
import { nodeHandler, type HandlerOptions, type Serve } from "./handler.ts";
import type { WireResponse } from "./wire.ts";
import { silentLog as log } from "../../tests/harness/silent-log.ts";

function streamed(headers: Record<string, string>): { reply: WireResponse; closed: () => number } {
  let closed = 0;
  const reader = {
    length: 5,
    read: async function* () {
      yield Buffer.from("bytes");
    },
    close: () => {
      closed += 1;
    },
  };
  const body = { kind: "stream", reader, from: 0, length: 5 } as const;
  return { reply: { status: 200, headers, body }, closed: () => closed };
}

async function listening(
  serve: Serve,
  options: HandlerOptions = { clock: realClock() },
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(nodeHandler(serve, log, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function statusOf(reply: WireResponse): Promise<number> {
  await using server = await listening(() => Promise.resolve(reply));
  const response = await fetch(server.url);
  await response.arrayBuffer();
  return response.status;
}

it("closes the content reader after the response was sent", async () => {
  const { reply, closed } = streamed({ "Content-Length": "5" });
  expect(await statusOf(reply)).toBe(200);
  expect(closed()).toBe(1);
});

it("sends a Content-Disposition in UTF-8 together with a Content-Length", async () => {
  const disposition = Buffer.from('attachment; filename="пример"').toString("latin1");
  const { reply } = streamed({ "Content-Length": "5", "Content-Disposition": disposition });
  expect(await statusOf(reply)).toBe(200);
});

it("closes the content reader if Node rejects a header", async () => {
  const { reply, closed } = streamed({ "Content-Type": "пример" });
  expect(await statusOf(reply)).toBe(500);
  expect(closed()).toBe(1);
});

it("reuses the pages of a large response only after they were sent", async () => {
  const lines = 400_000;
  const serve: Serve = async ({ target }) => {
    const paged = new PagedText();
    for (let line = 0; line < lines; line += 1) paged.append(target.repeat(20));
    const headers = { "Content-Length": String(paged.length), Connection: "close" };
    return { status: 200, headers, body: { kind: "paged", paged } };
  };
  await using server = await listening(serve);
  const bodyOf = async (letter: string): Promise<string> =>
    (await fetch(`${server.url}/${letter}`)).text();
  const slow = connect(Number(new URL(server.url).port), "127.0.0.1");
  slow.write("GET /s HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise((resolve) => slow.once("readable", resolve));
  for (const letter of "abc") {
    expect((await bodyOf(letter)) === `/${letter}`.repeat(20 * lines)).toBe(true);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of slow) chunks.push(chunk as Buffer);
  const [, body] = Buffer.concat(chunks).toString().split("\r\n\r\n");
  expect(body === "/s".repeat(20 * lines)).toBe(true);
});

it("measures a request until the last byte of its response was sent", async () => {
  const clock = manualClock();
  // More than the socket buffers of both sides hold.
  const bytes = Buffer.alloc(64 * 1024 * 1024);
  const headers = { "Content-Length": String(bytes.length), Connection: "close" };
  const reply: WireResponse = { status: 200, headers, body: { kind: "bytes", bytes } };
  let meter: HandlerOptions["meter"];
  const measured = new Promise<number>((resolve) => {
    meter = (_, seconds) => resolve(seconds);
  });
  await using server = await listening(() => Promise.resolve(reply), { clock, meter: meter! });
  const slow = connect(Number(new URL(server.url).port), "127.0.0.1");
  slow.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise((resolve) => slow.once("readable", resolve));
  clock.advance(7000);
  slow.resume();
  expect(await measured).toBe(7);
});
