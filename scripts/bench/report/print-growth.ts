import { growthMax } from "../goals.ts";
import { costLine, lastToFirst, type ComparedOperation } from "./cost-table.ts";

/** Prints one line: the cost per number of stored objects, and the growth to the last. */
export function printGrown(grown: ComparedOperation): void {
  console.log(`${costLine(grown)}${lastToFirst(grown) > growthMax ? " MISSED" : ""}`);
}
