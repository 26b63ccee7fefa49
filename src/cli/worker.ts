import { disablePretenuring } from "../host/process.ts";
import { runWorker } from "../workers/run-worker.ts";

/** The program of a worker process, which the supervisor starts. */
disablePretenuring();
runWorker();
