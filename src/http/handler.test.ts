import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { nodeHandler } from "./handler.ts";
import type { WireReply } from "./wire.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function streamed(headers: Record<string, string>): { reply: WireReply; closed: () => number } {
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

async function statusOf(reply: WireReply): Promise<number> {
  const server = createServer(nodeHandler(() => Promise.resolve(reply), log));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await answer.arrayBuffer();
  server.closeAllConnections();
  server.close();
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
