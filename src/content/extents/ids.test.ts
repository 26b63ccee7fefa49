import { expect, it } from "vitest";
import { StoreUnavailable } from "../../store/store.ts";
import { identityCodec, identityKey } from "../tables.ts";
import { openContentFixture, pattern } from "../../../tests/harness/content-fixture.ts";
import { whole } from "../content-ref.ts";

it("stops allocating ids after the store has lost commits, since it would allocate them again", async () => {
  const fixture = await openContentFixture();
  const put = async (name: string): Promise<void> => {
    const received = await fixture.receive(pattern(5000, 1));
    await fixture.put(name, () => whole(received));
    fixture.content.discard(received);
  };
  await put("before");
  await fixture.content.reclaim();
  await fixture.read("before");
  await fixture.store.transact(async (tx) =>
    tx.put(identityKey(), identityCodec.encode({ next: 1 })),
  );
  await fixture.content.reclaim();
  await expect(fixture.read("before")).rejects.toThrow(StoreUnavailable);
  await expect(put("after")).rejects.toThrow(StoreUnavailable);
  const another = await openContentFixture({
    store: fixture.store,
    files: fixture.files,
    areFilesGiven: true,
  });
  expect((await another.read("before")).length).toBe(5000);
});

it("continues while other processes allocate blocks and time passes", async () => {
  const fixture = await openContentFixture();
  for (let count = 0; count < 3; count += 1) {
    await openContentFixture({ store: fixture.store, files: fixture.files, areFilesGiven: true });
    await fixture.content.reclaim();
    const received = await fixture.receive(pattern(5000, 1));
    await fixture.put("body", () => whole(received));
    fixture.content.discard(received);
    expect((await fixture.read("body")).length).toBe(5000);
  }
});
