import { describe, expect, it } from "vitest";
import type { ContentReader } from "../../src/content/content.ts";
import { ticksPerDay, ticksPerMillisecond } from "../../src/base/ticks.ts";
import { SnapshotTooOld } from "../../src/store/open-views.ts";
import { StoreUnavailable, type Store } from "../../src/store/store.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

/** Too large for a record, so that reads open content. */
const large = "x".repeat(256 * 1024);
const block = { "x-ms-blob-type": "BlockBlob" };

async function write(sim: SimBlob): Promise<void> {
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: large });
}

describe("a range read with a checksum whose bytes cannot be read", () => {
  async function readWith(trouble: Error) {
    let open = 0;
    const failing: ContentReader = {
      length: large.length,
      read: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(trouble) }) }),
      close: () => void (open -= 1),
    };
    const sim = await simBlob(
      {},
      {
        content: (real) => ({
          loop: real.loop,
          receive: (body, options) => real.receive(body, options),
          discard: (received) => real.discard(received),
          applyPlan: (tx, owner, before, plan) => real.applyPlan(tx, owner, before, plan),
          slices: (view, ref, from, length) => real.slices(view, ref, from, length),
          open: () => {
            open += 1;
            return failing;
          },
          pin: (view) => real.pin(view),
          reclaim: () => real.reclaim(),
          close: () => real.close(),
        }),
      },
    );
    await write(sim);
    const headers = { "x-ms-range": "bytes=0-9", "x-ms-range-get-content-md5": "true" };
    const answer = await sim.send({ method: "GET", path: "/ccc/b", headers });
    const { status, code } = answer;
    const retryAfter = answer.headers["retry-after"];
    return { status, code, open, ...(retryAfter === undefined ? {} : { retryAfter }) };
  }

  it("is answered with an error of the service and leaves no reader open", async () => {
    const answer = await readWith(new Error("the disk is gone"));
    expect(answer).toEqual({ status: 500, code: "InternalError", open: 0 });
  });

  it("is not taken for a client disconnect if a storage connection was reset", async () => {
    const lost = Object.assign(new Error("lost"), { code: "ECONNRESET" });
    expect(await readWith(lost)).toEqual({ status: 500, code: "InternalError", open: 0 });
  });

  it("is retried if its view has expired", async () => {
    const late = await readWith(new SnapshotTooOld("late"));
    expect(late).toEqual({ status: 503, code: "ServerBusy", open: 0, retryAfter: "1" });
  });
});

it.each(["GET", "PUT"])("answers a %s that outlives the store with ServerBusy", async (method) => {
  let close = (): Promise<void> => Promise.resolve();
  const keep = (real: Store): Store => {
    close = () => real.close();
    return real;
  };
  const sim = await simBlob({}, { store: keep });
  await write(sim);
  await close();
  const answer = await sim.send({ method, path: "/ccc/b", headers: block, body: "" });
  expect(answer).toMatchObject({ status: 503, code: "ServerBusy" });
  expect(answer.headers["retry-after"]).toBe("1");
  expect(sim.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});

it("succeeds if the last access time cannot be stored", async () => {
  let broken = false;
  const sim = await simBlob(
    { lastAccessTracking: true },
    {
      store: (real) => ({
        ...real,
        snapshot: (run) => real.snapshot(run),
        transact: (run) =>
          broken ? Promise.reject(new StoreUnavailable("full")) : real.transact(run),
        close: () => real.close(),
      }),
    },
  );
  await write(sim);
  sim.clock.advance(Number((2n * ticksPerDay) / ticksPerMillisecond));
  broken = true;
  const refused = await sim.send({ method: "PUT", path: "/ccc/c", headers: block });
  expect(refused.code).toBe("ServerBusy");
  const read = await sim.send({ method: "GET", path: "/ccc/b" });
  expect([read.status, read.body.length]).toEqual([200, large.length]);
});
