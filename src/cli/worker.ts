import { disablePretenuring } from "../host/process.ts";
import { runWorker } from "../workers/run-worker.ts";

/** The program of a worker process: with `--workers` the supervisor, which is the process that the
 *  user has started, runs it once per worker. */
disablePretenuring();
runWorker();
