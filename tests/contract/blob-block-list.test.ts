import { beforeEach, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;

const idOf = (index: number): string =>
  Buffer.from(String(index).padStart(6, "0")).toString("base64");
const putBlock = (index: number, body: string) =>
  sim.send({ method: "PUT", path: `/ccc/b?comp=block&blockid=${idOf(index)}`, body });
const commit = (...entries: readonly string[]) => {
  const body = `<?xml version="1.0"?><BlockList>${entries.join("")}</BlockList>`;
  return sim.send({ method: "PUT", path: "/ccc/b?comp=blocklist", body });
};
const named = (list: string, index: number): string => `<${list}>${idOf(index)}</${list}>`;
const content = async () => (await sim.send({ method: "GET", path: "/ccc/b" })).body;

beforeEach(async () => {
  sim = await simBlob();
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  await putBlock(1, "old.");
  await commit(named("Latest", 1));
});

it("a block is taken from the list that its entry names", async () => {
  await putBlock(1, "new.");
  await commit(named("Committed", 1));
  expect(await content()).toBe("old.");
  await putBlock(1, "new.");
  await commit(named("Uncommitted", 1));
  expect(await content()).toBe("new.");
  await putBlock(1, "newest.");
  await commit(named("Latest", 1));
  expect(await content()).toBe("newest.");
});

it("an uncommitted block is not replaced by a committed one, nor the other way round", async () => {
  expect((await commit(named("Uncommitted", 1))).code).toBe("InvalidBlockList");
  await putBlock(2, "2");
  expect((await commit(named("Committed", 2))).code).toBe("InvalidBlockList");
  expect(await content()).toBe("old.");
});

it.each([512, 513, 1025])("a list of %i blocks is read to its end", async (count) => {
  await putBlock(2, "x");
  const entries = Array.from({ length: count }, () => named("Latest", 2));
  expect((await commit(...entries)).status).toBe(201);
  expect(await content()).toBe("x".repeat(count));
  await putBlock(2, "x");
  const malformed = await commit(...entries.slice(1), "<Other>AAAA</Other>");
  expect(malformed.status).toBe(400);
  expect(await content()).toBe("x".repeat(count));
});
