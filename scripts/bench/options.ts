import { parseArgs } from "node:util";
import type { Rounds } from "./compare.ts";

export interface BenchOptions {
  readonly load: Rounds;
  readonly only: RegExp;
  readonly growth: boolean;
  readonly azurite: boolean;
  /** The largest number of stored objects with `growth`. */
  readonly storedMax: number;
  /** The compiled command line of the measured server. */
  readonly program: string;
  /** Where results are written: `docs/bench` only for complete runs. */
  readonly out: string;
}

export const usage = `npm run bench -- [options]        the comparison with Azurite
npm run bench -- MEASUREMENT …    --profile, --large, --tree, --node, --nodes, --workers, --peers,
                                  --store, --explorer, --smb or --feed
  --only REGEX       operations whose name matches
  --quick            one round of 1 s each
  --seconds N        duration of a round (2.5; 1.5 with --growth)
  --rounds N         rounds; the median is reported (3)
  --connections N    concurrent connections (64)
  --growth           measures requests with 1 k, 100 k and 1 M stored objects instead
  --stored N         the largest number of stored objects (1000000)
  --no-azurite       without the comparison
  --program FILE     dist/cli/main.js of another build
  --out FOLDER       where results go (docs/bench for complete runs, else .bench/results)`;

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
  const isComplete = values.only === undefined && !quick && (azurite || values.growth);
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
    out: values.out ?? (isComplete ? "docs/bench" : ".bench/results"),
  };
}
