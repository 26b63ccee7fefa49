import { runTour } from "./run-tour.ts";
import { terminalPrinter } from "./tour.ts";

/** Runs all steps and prints them; returns the exit code. */
export async function printTour(): Promise<number> {
  const { stdout, stderr } = process;
  const printer = terminalPrinter((line) => stdout.write(`${line}\n`), stdout.isTTY);
  const failures = await runTour(printer);
  for (const failure of failures) stderr.write(`\nFAILED: ${failure}\n`);
  if (failures.length === 0) stdout.write("\nAll steps succeeded.\n");
  return failures.length === 0 ? 0 : 1;
}
