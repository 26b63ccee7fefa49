import { runInBackground, type Background } from "./background.ts";
import type { DataStores } from "./data-stores.ts";
import type { ServerEnvironment } from "./server-environment.ts";
import type { Runtime } from "../operation/execute.ts";
import { sweepHandles } from "../file/filesystem/sweep.ts";

/**
 * Ends the handles of processes that are gone, whether this one serves SMB or not: their locks
 * would keep REST out for ever. Who holds handles is looked at before who is running, because a
 * process enters itself first: one that has just started is never taken for dead.
 */
export async function sweepDeadHandles(
  runtime: Runtime,
  owners: () => Promise<ReadonlySet<string>>,
): Promise<number> {
  const holders = new Set<string>();
  await sweepHandles(runtime, (owner) => {
    holders.add(owner);
    return true;
  });
  if (holders.size === 0) return 0;
  const running = await owners();
  const dead = new Set([...holders].filter((owner) => !running.has(owner)));
  return dead.size === 0 ? 0 : sweepHandles(runtime, (owner) => !dead.has(owner));
}

export function sweepHandlesInBackground(
  { clock, log, random }: Pick<ServerEnvironment, "clock" | "log" | "random">,
  { store, content, owners }: Pick<DataStores, "store" | "content" | "owners">,
): Background {
  const round = async () => {
    await sweepDeadHandles({ store, content, random, clock }, owners);
    return false;
  };
  return runInBackground([{ name: "handles", round }], { clock, log });
}
