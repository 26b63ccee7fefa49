import type { ServiceName } from "../../src/protocol/names.ts";
import type { Step } from "./scenarios/scenario.ts";
import { sent } from "./target.ts";
import type { Target } from "./target.ts";

/** Results of one run, measured by the clients. */
export interface Run {
  readonly steps: number;
  readonly requests: number;
  readonly seconds: number;
  readonly medianMilliseconds: number;
  readonly p99Milliseconds: number;
  /** Per client. */
  readonly stepsOf: readonly number[];
  readonly errors: number;
  readonly firstError: string | undefined;
  /** CPU seconds of the load generator. */
  readonly callersShare: number;
}

export interface Load {
  readonly service: ServiceName;
  readonly connections: number;
  readonly seconds: number;
  /** Called when the load starts. */
  readonly begin: () => void;
}

const errorsMax = 200;

/** Repeats the step on a number of connections for a number of seconds. */
export async function measure(target: Target, step: Step, load: Load): Promise<Run> {
  const { connections, service } = load;
  const clients = Array.from({ length: connections }, () => target.connect(service));
  await Promise.all(clients.map((client) => client.open()));
  load.begin();
  const times: number[] = [];
  const stepsOf = Array.from({ length: connections }, () => 0);
  const failures: string[] = [];
  const requestsBefore = sent.requests;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const end = start + load.seconds * 1000;
  const isOver = (): boolean => performance.now() >= end;
  const work = async (index: number): Promise<void> => {
    const client = clients[index];
    if (client === undefined) return;
    const worker = { client, index, count: connections, isOver };
    for (let before = start; before < end && failures.length < errorsMax;) {
      try {
        const counts = await step(worker);
        if (counts === false) return;
        const now = performance.now();
        times.push(now - before);
        stepsOf[index] = (stepsOf[index] ?? 0) + 1;
        before = now;
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
        before = performance.now();
      }
    }
  };
  await Promise.all(clients.map((_, index) => work(index)));
  const seconds = (performance.now() - start) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  for (const client of clients) client.close();
  return {
    ...quantilesOf(times),
    steps: times.length,
    requests: sent.requests - requestsBefore,
    seconds,
    stepsOf,
    errors: failures.length,
    firstError: failures[0],
    callersShare: (cpu.user + cpu.system) / 1e6 / seconds,
  };
}

function quantilesOf(times: readonly number[]) {
  const sorted = Float64Array.from(times).toSorted();
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { medianMilliseconds: at(0.5), p99Milliseconds: at(0.99) };
}
