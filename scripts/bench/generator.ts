// Load generator in a process of its own; the parent process sends tasks as messages.
import { measure } from "./measure.ts";
import type { Run } from "./measure.ts";
import { scenarioOf } from "./scenarios/all.ts";
import type { Prepared, Site } from "./scenarios/scenario.ts";
import { targetAt } from "./target.ts";
import type { Address, Target } from "./target.ts";

export type Task =
  | {
      readonly kind: "prepare";
      readonly address: Address;
      readonly site: Site;
      /** Whether container and objects exist already. */
      readonly filled: boolean;
    }
  | {
      readonly kind: "run";
      readonly name: string;
      readonly connections: number;
      readonly seconds: number;
    };

export type Outcome = { readonly run: Run | undefined } | { readonly problem: string };

const scenario = scenarioOf(process.argv[2] ?? "");
const prepared = new Map<string, Prepared & { readonly target: Target }>();

process.on("message", (task: Task) => {
  void perform(task).then(
    (run) => process.send?.({ run } satisfies Outcome),
    (error: unknown) => process.send?.({ problem: String(error) } satisfies Outcome),
  );
});
process.on("disconnect", () => process.exit(0));

async function perform(task: Task): Promise<Run | undefined> {
  if (task.kind === "prepare") {
    const target = targetAt(task.address);
    if (!task.filled) await scenario.fill(target, task.site);
    const ready = await scenario.start(target, task.site);
    prepared.set(task.address.name, { ...ready, target });
    return undefined;
  }
  const ready = prepared.get(task.name);
  if (ready === undefined) throw new Error(`${task.name} is not prepared`);
  await ready.refill?.();
  const { connections, seconds } = task;
  const { service } = scenario;
  // The parent starts measuring the server's CPU time at this message.
  const begin = (): void => void process.send?.("begin");
  return measure(ready.target, ready.step, { service, connections, seconds, begin });
}
