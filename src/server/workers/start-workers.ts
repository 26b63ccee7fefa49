import { resolve } from "node:path";
import { expectFreeDescriptors } from "../file-descriptors.ts";
import { defaultLocation } from "../flags.ts";
import type { Options } from "../options.ts";
import type { EtagereServer } from "../start.ts";
import { Supervisor, type SupervisorOptions } from "./supervisor.ts";

export type WorkerEnvironment = Pick<
  SupervisorOptions,
  "workerCount" | "workerProgram" | "clock" | "log" | "announce" | "onGivenUp"
>;

/** Starts a server with several worker processes. Rejects with `StartRefused` if a worker does not
 *  start. */
export async function startWorkers(
  options: Options,
  environment: WorkerEnvironment,
): Promise<Pick<EtagereServer, "stop" | "reload">> {
  expectFreeDescriptors();
  const location = resolve(options.location ?? defaultLocation);
  const supervisor = await Supervisor.start({ ...environment, options, location });
  return { stop: () => supervisor.stop(), reload: () => supervisor.restart() };
}
