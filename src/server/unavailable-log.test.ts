import { expect, it } from "vitest";
import { StoreUnavailable } from "../store/store.ts";
import { simWorld } from "../../tests/harness/sim-world.ts";
import { summarizeUnavailable } from "./start.ts";

const message = "storage unavailable; answered 503";

it("logs rejected writes of a full disk once per minute, counted and without a stack", () => {
  const { clock, log } = simWorld(1);
  const summarized = summarizeUnavailable(log, clock);
  const reject = (): void =>
    summarized.error({ err: new StoreUnavailable("the disk is full"), requestId: "1" }, message);
  const line = (count: number) => ({
    level: "error",
    fields: { reason: "the disk is full", count },
    message,
  });
  for (let write = 0; write < 1000; write += 1) reject();
  expect(log.lines).toEqual([line(1)]);
  clock.advance(60_000);
  expect(log.lines).toEqual([line(1), line(999)]);
  reject();
  clock.advance(59_999);
  expect(log.lines).toHaveLength(2);
  clock.advance(1);
  expect(log.lines).toEqual([line(1), line(999), line(1)]);
  clock.advance(600_000);
  expect(log.lines).toHaveLength(3);
  reject();
  expect(log.lines).toHaveLength(4);
});

it("leaves other lines unchanged, and counts each message separately", () => {
  const { clock, log } = simWorld(1);
  const summarized = summarizeUnavailable(log, clock);
  const bug = { err: new Error("a bug") };
  summarized.error(bug, message);
  summarized.error(bug, message);
  summarized.info({ port: 1 }, "started");
  summarized.warn({ err: new StoreUnavailable("full") }, "task failed");
  summarized.error({ err: new StoreUnavailable("full") }, message);
  expect(log.lines).toEqual([
    { level: "error", fields: bug, message },
    { level: "error", fields: bug, message },
    { level: "info", fields: { port: 1 }, message: "started" },
    { level: "warn", fields: { reason: "full", count: 1 }, message: "task failed" },
    { level: "error", fields: { reason: "full", count: 1 }, message },
  ]);
});
