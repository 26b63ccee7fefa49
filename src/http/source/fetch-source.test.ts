import { EventEmitter } from "node:events";
import { expect, it, vi } from "vitest";
import type { SourceBody } from "../../operation/source.ts";
import { once, openContentFixture, pattern } from "../../../tests/harness/content-fixture.ts";
import { BodyAborted } from "../request/request-body.ts";
import type { WireRequest } from "../wire.ts";
import { SourceUnreachable, type SourceReader, type SourceResponse } from "./source-reader.ts";
import { fetchSource } from "./fetch-source.ts";

const body: SourceBody = {
  kind: "source",
  lengthMax: () => 1_000_000,
  inlineBytesMax: 0,
  style: "blob-from-url",
  range: "none",
  md5Always: false,
};

const request: WireRequest = {
  method: "PUT",
  target: "/account/container/copy",
  headers: {
    host: "127.0.0.1:10000",
    "x-ms-copy-source": "http://elsewhere.example/container/blob",
    "x-ms-copy-source-tag-option": "COPY",
  },
  rawHeaders: [],
  body: once(new Uint8Array()),
  secure: false,
  remoteAddress: "127.0.0.1",
  proceed: () => undefined,
};

function answerOf(bytes: AsyncIterable<Uint8Array>): SourceResponse {
  return { status: 200, reason: "", headers: {}, metadata: [], body: bytes, close: () => {} };
}

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([60]);
  throw new Error("the connection broke");
}

it("discards the bytes of a source whose tags cannot be read", async () => {
  const { content } = await openContentFixture();
  const discard = vi.spyOn(content, "discard");
  const receive = vi.spyOn(content, "receive");
  const read: SourceReader = async ({ url }) =>
    answerOf(url.searchParams.has("comp") ? breaking() : once(pattern(5000, 1)));
  const taking = fetchSource({ read, content }, request, body, "2023-11-03");
  await expect(taking).rejects.toThrow("the connection broke");
  expect(discard.mock.calls).toEqual([[await receive.mock.results[0]?.value]]);
  await content.close();
});

it("names the blocked address for the debug log, not in the response", async () => {
  const { content } = await openContentFixture();
  const read: SourceReader = async () => {
    throw new SourceUnreachable("copy source 127.0.0.1 has a blocked address", 403);
  };
  const taken = await fetchSource({ read, content }, request, body, "2023-11-03");
  const subject = "copy source 127.0.0.1 has a blocked address";
  const fault = { code: "CannotVerifyCopySource", detail: { status: 403, subject } };
  expect(taken).toEqual({ ok: false, fault });
  await content.close();
});

it("stops reading a source of this server when the client disconnects", async () => {
  const { content } = await openContentFixture();
  const connection = Object.assign(new EventEmitter(), { destroyed: false });
  let chunks = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; chunks < 1000; chunks += 1) {
      if (chunks === 3) connection.emit("close");
      yield pattern(5000, chunks);
    }
  }
  const close = vi.fn();
  const read: SourceReader = async () => ({ ...answerOf(endless()), close });
  const taking = fetchSource({ read, content }, { ...request, connection }, body, "2023-11-03");
  await expect(taking).rejects.toThrow(BodyAborted);
  expect(chunks).toBe(3);
  expect(close).toHaveBeenCalled();
  await content.close();
});

it("reads nothing for a client that has disconnected", async () => {
  const { content } = await openContentFixture();
  const connection = Object.assign(new EventEmitter(), { destroyed: true });
  const signals: (AbortSignal | undefined)[] = [];
  const read: SourceReader = async ({ signal }) => {
    signals.push(signal);
    return answerOf(once(pattern(5000, 1)));
  };
  const receive = vi.spyOn(content, "receive");
  const taking = fetchSource({ read, content }, { ...request, connection }, body, "2023-11-03");
  await expect(taking).rejects.toThrow(BodyAborted);
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  expect(receive).not.toHaveBeenCalled();
  await content.close();
});
