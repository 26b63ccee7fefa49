// The program of the single executable. It is also the program of its workers, because the
// executable contains only one.
import { runCommandLine } from "../../src/cli/run-command-line.ts";
import { workerArgument } from "../../src/workers/messages.ts";
import { NoCacheFolder } from "./cache-folder.ts";

const isWorker = process.send !== undefined && process.argv.at(-1) === workerArgument;
const running = isWorker ? import("../../src/cli/worker.ts") : runCommandLine(process.argv);
running.catch((error: unknown) => {
  if (!(error instanceof NoCacheFolder)) throw error;
  process.stderr.write(`etagere: ${error.message}\n`);
  process.exit(1);
});
