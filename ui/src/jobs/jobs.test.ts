import { describe, expect, it } from "vitest";
import type { Result } from "../result.ts";
import { allJobs, cancelJob, retryJob, startJob, type Work } from "./jobs.ts";

const conflict = { status: 412, code: "ConditionNotMet", message: "changed" };

async function* numbers(count: number): AsyncGenerator<Result<number>> {
  for (let value = 0; value < count; value += 1) yield await Promise.resolve({ ok: true, value });
}

/** Starts a job; resolves to it when it has ended. */
function run(work: Partial<Work<number>>): Promise<number> {
  return new Promise((resolve) => {
    startJob<number>({
      title: "Test",
      items: () => numbers(100),
      nameOf: String,
      run: () => Promise.resolve({ ok: true, value: undefined }),
      ...work,
      onDone: () => resolve(allJobs().at(-1)?.id ?? 0),
    });
  });
}

const job = (id: number) => allJobs().find((one) => one.id === id);

describe("a job", () => {
  it("processes all items, with bounded concurrency", async () => {
    let present = 0;
    let most = 0;
    const id = await run({
      atOnceMax: 4,
      run: async () => {
        present += 1;
        most = Math.max(most, present);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        present -= 1;
        return { ok: true, value: undefined };
      },
    });
    expect(job(id)).toMatchObject({ state: "done", doneCount: 100, foundCount: 100 });
    expect(most).toBe(4);
  });

  it("lists the failures, and retries only these", async () => {
    const tried: [number, boolean][] = [];
    let finished = (): void => {};
    const retried = new Promise<void>((resolve) => {
      finished = resolve;
    });
    let ends = 0;
    const id = await new Promise<number>((resolve) => {
      startJob<number>({
        title: "Test",
        items: () => numbers(10),
        nameOf: (value) => `item ${value}`,
        run: (value, { isRetry }) => {
          tried.push([value, isRetry]);
          const isOk = isRetry || value % 5 !== 0;
          return Promise.resolve(
            isOk ? { ok: true, value: undefined } : { ok: false, failure: conflict },
          );
        },
        onDone: () => {
          ends += 1;
          if (ends === 2) finished();
          else resolve(allJobs().at(-1)?.id ?? 0);
        },
      });
    });
    expect(job(id)?.failures.map(({ name }) => name)).toEqual(["item 0", "item 5"]);
    expect(job(id)?.failures[0]?.problem).toContain("Changed by another client");
    retryJob(id);
    await retried;
    expect(job(id)).toMatchObject({ state: "done", doneCount: 10, foundCount: 10, failures: [] });
    expect(tried.slice(10)).toEqual([
      [0, true],
      [5, true],
    ]);
  });

  it("stops listing and processing when it is cancelled", async () => {
    let processed = 0;
    const id = await run({
      items: () => numbers(1_000_000),
      atOnceMax: 2,
      run: () => {
        processed += 1;
        if (processed === 10) cancelJob(allJobs().at(-1)?.id ?? 0);
        return Promise.resolve({ ok: true, value: undefined });
      },
    });
    expect(job(id)?.state).toBe("cancelled");
    expect(processed).toBeLessThan(13);
  });

  it("reports a list that failed, and finishes nothing", async () => {
    let isFinished = false;
    const id = await run({
      items: async function* () {
        yield* numbers(3);
        yield { ok: false, failure: { status: 503, code: "ServerBusy", message: "busy" } };
      },
      finish: () => {
        isFinished = true;
        return "";
      },
    });
    expect(job(id)).toMatchObject({ doneCount: 3, problem: "busy (503 ServerBusy)" });
    expect(isFinished).toBe(false);
  });
});
