import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { PagedText } from "../encoding/paged-text.ts";
import { nodeHandler, type Serve } from "./handler.ts";
import type { WireResponse } from "./wire.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

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

async function listening(serve: Serve): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(nodeHandler(serve, log));
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
  const answer = await fetch(server.url);
  await answer.arrayBuffer();
  return answer.status;
}

it("lets go of what an answer is read from once it is sent", async () => {
  const { reply, closed } = streamed({ "Content-Length": "5" });
  expect(await statusOf(reply)).toBe(200);
  expect(closed()).toBe(1);
});

it("passes on a disposition in UTF-8 beside a length", async () => {
  const told = Buffer.from('attachment; filename="пример"').toString("latin1");
  const { reply } = streamed({ "Content-Length": "5", "Content-Disposition": told });
  expect(await statusOf(reply)).toBe(200);
});

it("lets go of it, too, if Node refuses a header", async () => {
  const { reply, closed } = streamed({ "Content-Type": "пример" });
  expect(await statusOf(reply)).toBe(500);
  expect(closed()).toBe(1);
});

it("uses the pages of a long answer again only after its reader took them", async () => {
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
