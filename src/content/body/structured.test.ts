import { expect, it } from "vitest";
import { InvalidStructuredBody, readStructured } from "./structured.ts";

/** Version 1, checksums, one segment of one byte whose checksum is wrong; more bytes follow. */
const damaged = Buffer.from(
  "012000000000000000010001000100010000000000000061" + "09".repeat(8),
  "hex",
);

it("a wrong checksum ends the iteration of the request's body", async () => {
  let isReturned = false;
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: damaged }),
      return: () => {
        isReturned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  const read = async () => {
    for await (const part of readStructured(body)) expect(part).toEqual(Buffer.from("a"));
  };
  await expect(read()).rejects.toThrow(InvalidStructuredBody);
  // Otherwise the body's reader pauses the connection while the handler drains it.
  expect(isReturned).toBe(true);
});
