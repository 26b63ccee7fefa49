import { Session } from "node:inspector/promises";
import type { HeapProfiler } from "node:inspector/promises";
import type { Prepared } from "../scenarios/scenario.ts";
import type { Client } from "../target.ts";

/** What one request costs. */
export interface Cost {
  readonly cpuMicroseconds: number;
  readonly allocatedBytes: number;
}

export interface Steps {
  readonly prepared: Prepared;
  readonly connect: () => Client;
  readonly workers: number;
  readonly steps: number;
  readonly requestsPerStep: number;
}

/** Runs so many steps, however long that takes. */
export async function runSteps({ prepared, connect, workers, steps }: Steps): Promise<void> {
  let left = steps;
  const work = async (index: number): Promise<void> => {
    const worker = { client: connect(), index, count: workers, isOver: () => false };
    while (left-- > 0) {
      if ((await prepared.step(worker)) === false) throw new Error("a step had nothing to do");
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, index) => work(index)));
}

export async function cpuOf(steps: Steps): Promise<number> {
  const before = process.cpuUsage();
  await runSteps(steps);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (steps.steps * steps.requestsPerStep);
}

/** Bytes between two samples, on the average: small enough for an error of a few per cent. */
const samplingInterval = 4096;

/** On the heap, by samples: also what the collector has taken away in the meantime. */
export async function allocationOf(steps: Steps): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.startSampling", {
    samplingInterval,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as HeapProfiler.StartSamplingParameterType);
  await runSteps(steps);
  const { profile } = await session.post("HeapProfiler.stopSampling");
  session.disconnect();
  return sizeOf(profile.head) / (steps.steps * steps.requestsPerStep);
}

function sizeOf({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + sizeOf(child), selfSize);
}
