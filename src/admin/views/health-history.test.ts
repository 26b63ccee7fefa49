import { expect, it } from "vitest";
import { newMetrics } from "../../server/metrics.ts";
import { simWorld } from "../../../tests/harness/sim-world.ts";
import type { ViewContext } from "../admin-context.ts";
import { HealthHistory } from "./health-history.ts";

interface History {
  readonly everySeconds: number;
  readonly samples: readonly {
    readonly overSeconds: number;
    readonly requests: { readonly perSecond: number; readonly errorsPerSecond: number };
  }[];
}

function history() {
  const { clock, log } = simWorld(1);
  const metrics = newMetrics();
  const process = { residentBytes: 1, heapUsedBytes: 1, cpuSeconds: 0 };
  const figures = { sample: () => Promise.resolve(metrics.sample(process)) };
  const kept = new HealthHistory({ clock, log, figures } as unknown as ViewContext);
  const pass = async (seconds: number): Promise<void> => {
    clock.advance(seconds * 1000);
    // A sample is taken asynchronously before the next one is scheduled.
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
  };
  const request = (status: number): void =>
    metrics.request({ service: "blob", operation: "Put Blob", status, seconds: 0.001 });
  return { kept, pass, request, read: () => kept.render() as History };
}

it("keeps rates from before they are asked for", async () => {
  const { pass, request, read } = history();
  await pass(5);
  for (const status of [201, 201, 500, 201, 201]) request(status);
  await pass(5);
  await pass(5);
  const { everySeconds, samples } = read();
  expect(everySeconds).toBe(5);
  expect(samples.map(({ requests }) => requests.perSecond)).toEqual([1, 0]);
  expect(samples.map(({ requests }) => requests.errorsPerSecond)).toEqual([0.2, 0]);
  expect(samples[0]?.overSeconds).toBe(5);
});

it("keeps one hour, the oldest first, and takes no sample after it is closed", async () => {
  const { kept, pass, request, read } = history();
  await pass(5);
  request(201);
  for (let sample = 0; sample < 725; sample += 1) await pass(5);
  expect(read().samples).toHaveLength(720);
  expect(read().samples.every(({ requests }) => requests.perSecond === 0)).toBe(true);
  request(201);
  kept.close();
  await pass(5);
  expect(read().samples.at(-1)?.requests.perSecond).toBe(0);
});
