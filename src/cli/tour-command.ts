import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { usageError, type Subcommand } from "./subcommand.ts";

/** `etagere tour`: runs `scripts/tour.mjs`, which only a checkout has. */
export const tourCommand: Subcommand = {
  name: "tour",
  usage: "",
  summary: "demonstrate the concurrency guarantees (needs a checkout)",
  help: [
    "Starts a server in memory on free ports and demonstrates its guarantees with the official",
    "client libraries: ETags, leases, locks, message visibility, one file over REST and SMB. Uses",
    "no data folder. The client libraries are part of a checkout, not of the npm package.",
    "",
    "exit code: 0 all steps succeeded, 1 a step failed or this is no checkout",
    "example:   etagere tour",
  ],
  run: tour,
};

async function tour(words: readonly string[]): Promise<number> {
  if (words.length > 0) {
    process.stderr.write(usageError(tourCommand, "no options are accepted"));
    return 1;
  }
  const script = new URL("../../scripts/tour.mjs", import.meta.url);
  if (!existsSync(fileURLToPath(script))) {
    process.stderr.write("etagere: the tour needs a checkout: git clone, then bin/etagere tour\n");
    return 1;
  }
  await import(script.href);
  return 0;
}
