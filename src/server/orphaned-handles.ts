import { runInBackground, type Background } from "../data/background.ts";
import type { DataStores } from "../data/data-stores.ts";
import type { ServerEnvironment } from "./server-environment.ts";
import type { Runtime } from "../operation/work.ts";
import { sweepHandles } from "../file/filesystem/sweep.ts";

/**
 * Closes handles of processes that have ended, whose locks would otherwise block REST requests for
 * ever. Runs even if this process does not serve SMB. Owners of handles are read before the list of
 * running processes, and a process registers itself before it opens files, so one that has just
 * started is never treated as ended.
 */
export async function closeOrphanedHandles(
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
    await closeOrphanedHandles({ store, content, random, clock }, owners);
    return false;
  };
  return runInBackground([{ name: "handles", round }], { clock, log });
}
