import { describe, expect, it } from "vitest";
import { randomFrom } from "../verify/random.ts";
import { mutate } from "./mutate.ts";
import { fuzzTargets } from "./targets.ts";

/** `npm run fuzz` runs more, guided by coverage. */
const seed = Number(process.env["ETAGERE_FUZZ_SEED"] ?? 1);
const executions = Number(process.env["ETAGERE_FUZZ_EXECUTIONS"] ?? 300);
const millisecondsMax = 5000;

describe(`mutated input, seed ${seed}`, () => {
  it.each(Object.entries(fuzzTargets))(
    "%s accepts or rejects it, and ends soon",
    async (_, { samples, run }) => {
      const all = samples();
      const random = randomFrom(seed);
      for (const sample of all) await run(Buffer.from(sample));
      for (let count = 0; count < executions; count += 1) {
        const input = mutate(all, random);
        const start = performance.now();
        await Promise.resolve(run(input)).catch((error: unknown) => {
          throw new Error(`input ${input.toString("base64")}`, { cause: error });
        });
        expect(performance.now() - start).toBeLessThan(millisecondsMax);
      }
    },
    600_000,
  );
});
