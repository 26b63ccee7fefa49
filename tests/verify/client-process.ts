import { openSync, writeSync } from "node:fs";
import { randomFrom } from "./random.ts";
import { monotonicMicroseconds } from "./recorder.ts";
import { runClient, settingOf } from "./session.ts";
import type { Endpoints } from "./wire.ts";
import { workloads } from "./workloads/all.ts";

/** The arguments of a client process, as JSON in one word. */
export interface ClientOrders {
  readonly client: string;
  readonly seed: number;
  readonly servers: readonly Endpoints[];
  readonly historyFile: string;
  readonly began: number;
  readonly until: number;
  readonly epochSeconds: number;
  readonly workloads: readonly string[];
  /** Number of clients of each workload. */
  readonly clientsEach: number;
}

const orders = JSON.parse(process.argv[2] ?? "{}") as ClientOrders;
const file = openSync(orders.historyFile, "a");
const isOver = (): boolean => monotonicMicroseconds() > orders.until;
const running = workloads
  .filter(({ name }) => orders.workloads.includes(name))
  .flatMap((workload, place) =>
    Array.from({ length: orders.clientsEach }, (_, index) => {
      const setting = settingOf({
        ...orders,
        client: `${orders.client}-${place}-${index}`,
        random: randomFrom(orders.seed + place * 1000 + index),
        // Written synchronously, because this process may be killed at any time.
        write: (event) => void writeSync(file, `${JSON.stringify(event)}\n`),
      });
      return runClient(workload, setting, isOver);
    }),
  );
await Promise.all(running);
process.exit(0);
