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
    readonly rules: Readonly<Record<string, number>>;
    readonly store: { readonly bytes: number };
  }[];
}

function history() {
  const { clock, log } = simWorld(1);
  const metrics = newMetrics();
  const process = { residentBytes: 1, heapUsedBytes: 1, cpuSeconds: 0 };
  const figures = { sample: () => Promise.resolve(metrics.sample(process)) };
  const rules = new Map<string, number>();
  let measured = 0;
  const kept = new HealthHistory({ clock, log, figures } as unknown as ViewContext, {
    refusalsByRule: () => rules,
    measureBytes: () => {
      measured += 1;
      return Promise.resolve({ storeBytes: measured * 100 });
    },
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1000);
      // A sample is taken asynchronously before the next one is scheduled.
      for (let step = 0; step < 6; step += 1) await Promise.resolve();
    }
  };
  const request = (status: number): void =>
    metrics.request({ service: "blob", operation: "Put Blob", status, seconds: 0.001 });
  return { kept, pass, request, rules, read: (every: number) => kept.render(every) as History };
}

it("keeps rates from before they are asked for, by second and by minute", async () => {
  const { pass, request, rules, read } = history();
  await pass(60);
  for (const status of [201, 201, 500, 412, 201, 201]) request(status);
  rules.set("condition", 1);
  await pass(60);
  const seconds = read(1).samples;
  expect(seconds).toHaveLength(119);
  expect(seconds.map(({ requests }) => requests.perSecond)[59]).toBe(6);
  expect(seconds[59]?.rules).toEqual({ condition: 1 });
  expect(seconds[60]?.rules).toEqual({});
  const { everySeconds, samples } = read(60);
  expect(everySeconds).toBe(60);
  expect(samples.map(({ requests }) => requests.perSecond)).toEqual([0.1]);
  expect(samples.map(({ requests }) => requests.errorsPerSecond)).toEqual([0.017]);
  expect(samples[0]?.overSeconds).toBe(60);
  // Measured at the start and once a minute, not with each sample.
  expect(samples[0]?.store.bytes).toBe(300);
});

it("keeps ten minutes and a day, and takes no sample after it is closed", async () => {
  const { kept, pass, request, read } = history();
  await pass(1442 * 60);
  expect(read(1).samples).toHaveLength(600);
  expect(read(60).samples).toHaveLength(1440);
  request(201);
  kept.close();
  await pass(60);
  expect(read(1).samples.at(-1)?.requests.perSecond).toBe(0);
});
