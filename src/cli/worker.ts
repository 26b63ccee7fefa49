import { disablePretenuring } from "../server/gc-flags.ts";
import { runWorker } from "../server/workers/run-worker.ts";

/** The program of a worker process, which the supervisor starts. */
disablePretenuring();
runWorker();
