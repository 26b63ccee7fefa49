import { expect, it } from "vitest";
import { simFile } from "../../../tests/harness/sim-file.ts";
import type { Store } from "../../store/store.ts";
import type { SmbServerState } from "../server.ts";
import { BreakNotifier } from "./break-notifier.ts";
import type { FileHandle } from "./file-handle.ts";

const handle = {
  cache: { key: "key" },
  reference: { share: { id: 1n }, file: 2n },
} as unknown as FileHandle;

it("reads the locks again after every change, also after one at the end of a read", async () => {
  const { runtime } = await simFile();
  const stepsMax = 40;
  for (let steps = 0; steps < stepsMax; steps += 1) {
    let change = (): void => {};
    let readCount = 0;
    const store: Store = Object.assign(Object.create(runtime.store), {
      watch: (_: unknown, onChange: () => void) => {
        change = onChange;
        return () => {};
      },
      snapshot: async (work: Parameters<Store["snapshot"]>[0]) => {
        readCount += 1;
        const result = await runtime.store.snapshot(work);
        if (readCount === 1) void changeAfter(steps);
        return result;
      },
    });
    const changeAfter = async (count: number): Promise<void> => {
      for (let step = 0; step < count; step += 1) await Promise.resolve();
      change();
    };
    const world = { runtime: { ...runtime, store } };
    new BreakNotifier({ world } as unknown as SmbServerState).add(handle, 0);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect({ steps, readCount }).toEqual({ steps, readCount: 2 });
  }
});
