import { describe, expect, it } from "vitest";

import { keyInLog, logBounds, positionInLog, type LogPosition } from "../../../src/store/logs.ts";
import { textOfKey } from "../../../src/encoding/keys.ts";
import type { Store } from "../../../src/store/store.ts";
import { opener, type NewStore } from "./harness.ts";
import { bytes, k, put } from "./store-steps.ts";

/** Logs, whose entries are in commit order. */
export function describeLogs(newStore: NewStore): void {
  const open = opener(newStore);

  describe("logs", () => {
    it("have an entry for each commit, in the order of the commits", async () => {
      const { store } = await open();
      const appendCount = 64;
      await Promise.all(
        Array.from({ length: appendCount }, () =>
          store.transact(async (tx) => {
            const value = (await tx.get(k("count")))?.[0] ?? 0;
            tx.put(k("count"), Uint8Array.of(value + 1));
            tx.append(k("log"), Uint8Array.of(value));
          }),
        ),
      );
      const entries = await readLog(store);
      expect(entries.map(({ value }) => value[0])).toEqual(
        Array.from({ length: appendCount }, (_, index) => index),
      );
    });

    it("have the appends of one transaction in their order, at one sequence", async () => {
      const { store } = await open();
      await put(store, k("before"), "x");
      await store.transact((tx) => {
        for (let index = 0; index < 300; index += 1) tx.append(k("log"), bytes(String(index)));
        tx.append(k("other"), bytes("other"));
      });
      const { sequence } = await store.snapshot((view) => ({ sequence: view.sequence }));
      const entries = await readLog(store);
      expect(entries.map(({ value }) => Buffer.from(value).toString())).toEqual(
        Array.from({ length: 300 }, (_, index) => String(index)),
      );
      expect(new Set(entries.map(({ position }) => position.sequence))).toEqual(
        new Set([sequence]),
      );
    });

    it("continue after a position", async () => {
      const { store } = await open();
      for (const text of ["a", "b", "c"]) {
        await store.transact((tx) => tx.append(k("log"), bytes(text)));
      }
      const [first] = await readLog(store);
      const rest = await readLog(store, first?.position);
      expect(rest.map(({ value }) => Buffer.from(value).toString())).toEqual(["b", "c"]);
    });

    it("have no entry of a transaction that failed or read only", async () => {
      const { store } = await open();
      const failed = store.transact((tx) => {
        tx.append(k("log"), bytes("no"));
        throw new Error("rejected");
      });
      await expect(failed).rejects.toThrow("rejected");
      expect(await readLog(store)).toEqual([]);
    });

    it("are read by transactions that move entries, while others append", async () => {
      const { store } = await open();
      const moved = async (): Promise<number> =>
        store.transact(async (tx) => {
          const count = (await tx.get(k("moved")))?.[0] ?? 0;
          const entries = await tx.readHead({
            ...logBounds(k("log"), undefined, tx.sequence),
            limit: 3,
          });
          for (const { key } of entries) tx.delete(key);
          tx.put(k("moved"), Uint8Array.of(count + entries.length));
          return entries.length;
        });
      const appends = Array.from({ length: 30 }, (_, index) =>
        store.transact((tx) => tx.append(k("log"), bytes(String(index)))),
      );
      await Promise.all([...appends, moved(), moved(), moved()]);
      while ((await moved()) > 0);
      const count = await store.snapshot((view) => view.get(k("moved")));
      expect(count?.[0]).toBe(30);
    });

    it("continue with greater positions after the sequence was raised", async () => {
      const { store } = await open();
      await store.transact((tx) => tx.append(k("log"), bytes("a")));
      await store.raiseSequence(1_000_000);
      await store.raiseSequence(10);
      await store.transact((tx) => tx.append(k("log"), bytes("b")));
      const entries = await readLog(store);
      expect(entries.map(({ value }) => Buffer.from(value).toString())).toEqual(["a", "b"]);
      expect(entries.at(-1)?.position.sequence).toBeGreaterThan(1_000_000);
    });

    it("show a watcher each append", async () => {
      const { store } = await open();
      let calls = 0;
      const unwatch = store.watch(k("log"), () => (calls += 1));
      await store.transact((tx) => tx.append(k("log"), bytes("a")));
      await expect.poll(() => calls).toBeGreaterThan(0);
      unwatch();
    });
  });
}

interface LogEntry {
  readonly position: LogPosition;
  readonly value: Uint8Array;
}

function readLog(store: Store, after?: LogPosition): Promise<LogEntry[]> {
  return store.snapshot(async (view) => {
    const found: LogEntry[] = [];
    for await (const entries of view.range(logBounds(k("log"), after, view.sequence))) {
      for (const { key, value } of entries) {
        const position = positionInLog(key);
        expect(textOfKey(keyInLog(k("log"), position))).toBe(textOfKey(key));
        found.push({ position, value });
      }
    }
    return found;
  });
}
