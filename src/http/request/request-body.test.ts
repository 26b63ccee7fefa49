import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { BodyAborted, RequestBody } from "./request-body.ts";

const firstOf = (request: IncomingMessage) =>
  new RequestBody(request)[Symbol.asyncIterator]().next();

describe("a chunk that is not read again", () => {
  it("is freed if it has memory of its own", () => {
    const body = new RequestBody(new IncomingMessage(new Socket()));
    const own = new Uint8Array(64 * 1024);
    const part = new Uint8Array(new ArrayBuffer(128 * 1024), 0, 64 * 1024);
    body.discard(own);
    body.discard(part);
    expect([own.length, part.length]).toEqual([0, 64 * 1024]);
  });
});

describe("a body whose connection is closed", () => {
  it("fails even if all of it had arrived: its end is not emitted", async () => {
    const request = new IncomingMessage(new Socket());
    request.push("arrived");
    request.push(null);
    request.complete = true;
    request.destroy();
    await expect(firstOf(request)).rejects.toBeInstanceOf(BodyAborted);
  });

  it("fails with BodyAborted, whatever error Node emits", async () => {
    const request = new IncomingMessage(new Socket());
    const first = firstOf(request);
    request.destroy(Object.assign(new Error("aborted"), { code: "ECONNRESET" }));
    await expect(first).rejects.toBeInstanceOf(BodyAborted);
  });

  it("frees the memory of a whole body at once", async () => {
    const request = new IncomingMessage(new Socket());
    const bytes = 64 * 1024 * 1024;
    const before = process.memoryUsage().arrayBuffers;
    const whole = new RequestBody(request).whole(bytes);
    expect(process.memoryUsage().arrayBuffers).toBeGreaterThan(before + bytes / 2);
    request.destroy();
    await expect(whole).rejects.toBeInstanceOf(BodyAborted);
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(before + bytes / 2);
  });
});
