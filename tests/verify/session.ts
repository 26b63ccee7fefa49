import type { HistoryEvent } from "./history.ts";
import type { Random } from "./random.ts";
import { monotonicMicroseconds, Recorder } from "./recorder.ts";
import { Wire, type Endpoints } from "./wire.ts";
import type { Setting, Workload } from "./workload.ts";

/** What the clients of one process share. */
export interface SessionOptions {
  /** Unique among all clients, also later ones. */
  readonly client: string;
  readonly servers: readonly Endpoints[];
  readonly random: Random;
  readonly epochSeconds: number;
  /** Start of the first epoch, in microseconds of the monotonic clock. */
  readonly began: number;
  readonly write: (event: HistoryEvent) => void;
  readonly delivered?: Setting["delivered"];
}

export function settingOf(options: SessionOptions): Setting {
  const { client, servers, random, epochSeconds, began, write, delivered } = options;
  let uniques = 0;
  return {
    wire: new Wire(() => random.pick(servers)),
    server: () => random.pick(servers),
    recorder: new Recorder(client, write),
    random,
    delivered,
    epoch: () => Math.floor((monotonicMicroseconds() - began) / (epochSeconds * 1_000_000)),
    unique() {
      uniques += 1;
      return `${client}x${uniques}`;
    },
  };
}

const restMilliseconds = 20;

/**
 * Runs one client of a workload until the time is over. A failed start is retried after a pause.
 */
export async function runClient(
  workload: Workload,
  setting: Setting,
  isOver: () => boolean,
): Promise<void> {
  const step = workload.client(setting);
  while (!isOver()) {
    const before = monotonicMicroseconds();
    await step().catch(() => undefined);
    // A server that is down fails at once; more attempts would record nothing new.
    const isQuick = monotonicMicroseconds() - before < 100;
    if (isQuick) await new Promise((resolve) => setTimeout(resolve, restMilliseconds));
  }
}
