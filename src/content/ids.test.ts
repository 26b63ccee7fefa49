import { expect, it } from "vitest";
import { StoreUnavailable } from "../store/store.ts";
import { identityCodec, identityKey } from "./tables.ts";
import { openContentFixture, pattern } from "./testing.ts";
import { whole } from "./plan.ts";

it("refuses to go on when the store was set back, and would give the same ids again", async () => {
  const shelf = await openContentFixture();
  const put = async (name: string): Promise<void> => {
    const received = await shelf.receive(pattern(5000, 1));
    await shelf.put(name, () => whole(received));
    shelf.content.discard(received);
  };
  await put("before");
  await shelf.content.reclaim();
  await shelf.read("before");
  await shelf.store.transact(async (tx) =>
    tx.put(identityKey(), identityCodec.encode({ next: 1 })),
  );
  await shelf.content.reclaim();
  await expect(shelf.read("before")).rejects.toThrow(StoreUnavailable);
  await expect(put("after")).rejects.toThrow(StoreUnavailable);
  const another = await openContentFixture({ store: shelf.store, files: shelf.files });
  expect((await another.read("before")).length).toBe(5000);
});

it("is not put off by others that take blocks, nor by time", async () => {
  const shelf = await openContentFixture();
  for (let count = 0; count < 3; count += 1) {
    await openContentFixture({ store: shelf.store, files: shelf.files });
    await shelf.content.reclaim();
    const received = await shelf.receive(pattern(5000, 1));
    await shelf.put("body", () => whole(received));
    shelf.content.discard(received);
    expect((await shelf.read("body")).length).toBe(5000);
  }
});
