import { runTour } from "./run-tour.ts";
import { terminalPrinter } from "./tour.ts";

const { stdout } = process;
const printer = terminalPrinter((line) => stdout.write(`${line}\n`), stdout.isTTY);
const failures = await runTour(printer);
for (const failure of failures) console.error(`\nFAILED: ${failure}`);
if (failures.length === 0) console.log("\nAll steps succeeded.");
process.exitCode = failures.length === 0 ? 0 : 1;
