import { parseArgs } from "node:util";
import type { Rounds } from "./compare.ts";

export interface BenchOptions {
  readonly load: Rounds;
  readonly only: RegExp;
  readonly growth: boolean;
  readonly azurite: boolean;
  /** Objects stored at most in the run of growth. */
  readonly storedMax: number;
  /** The compiled command line of the server that is measured. */
  readonly program: string;
  /** Where results are written: `docs/bench` only for whole runs. */
  readonly out: string;
}

export const usage = `npm run bench -- [options]
  --only REGEX       operations whose name matches
  --quick            one round of one second each
  --seconds N        of one round (2.5; 1.5 for growth)
  --rounds N         whose median counts (3)
  --connections N    (64)
  --growth           instead: the cost of a request with 1 k, 100 k and 1 M objects stored
  --stored N         the largest of these numbers (1000000)
  --no-azurite       without the comparison
  --program FILE     another build's dist/cli/main.js
  --out FOLDER       for the results (docs/bench for whole runs, else .bench/results)`;

export function parseOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      seconds: { type: "string" },
      rounds: { type: "string" },
      connections: { type: "string", default: "64" },
      growth: { type: "boolean", default: false },
      stored: { type: "string", default: "1000000" },
      "no-azurite": { type: "boolean", default: false },
      program: { type: "string", default: "dist/cli/main.js" },
      out: { type: "string" },
    },
  });
  const { quick } = values;
  const azurite = !values["no-azurite"];
  const isWhole = values.only === undefined && !quick && (azurite || values.growth);
  const seconds = Number(values.seconds ?? (quick ? 1 : values.growth ? 1.5 : 2.5));
  return {
    only: new RegExp(values.only ?? "."),
    growth: values.growth,
    azurite,
    load: {
      seconds,
      rounds: Number(values.rounds ?? (quick ? 1 : 3)),
      warmUpSeconds: Math.min(1, seconds),
      connections: Number(values.connections),
    },
    storedMax: Number(values.stored),
    program: values.program,
    out: values.out ?? (isWhole ? "docs/bench" : ".bench/results"),
  };
}
