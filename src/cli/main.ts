import { runCommandLine } from "./run-command-line.ts";

/** The program `etagere` of the npm package. */
await runCommandLine(process.argv);
