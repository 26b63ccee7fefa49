import { expect, it } from "vitest";
import { encodeKey } from "../../core/keys.ts";
import { manualClock } from "../manual-clock.ts";
import { openMemoryStore } from "./open-memory-store.ts";

it("commits and reads", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  const key = encodeKey(["a"]);
  await Promise.all(
    Array.from({ length: 64 }, () =>
      store.transact(async (tx) => {
        const value = (await tx.get(key))?.[0] ?? 0;
        tx.put(key, new Uint8Array([value + 1]));
      }),
    ),
  );
  expect(await store.snapshot((view) => view.get(key))).toEqual(new Uint8Array([64]));
});
