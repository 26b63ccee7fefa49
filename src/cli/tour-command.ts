import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineCommand } from "./command.ts";

/** `etagere tour`: runs `scripts/tour.mjs`, which only a checkout has. */
export const tourCommand = defineCommand({
  name: "tour",
  summary: "demonstrate the concurrency guarantees (needs a checkout)",
  description: [
    "Starts a server in memory on free ports and demonstrates its guarantees with the official " +
      "client libraries: ETags, leases, locks, message visibility, one file over REST and SMB. " +
      "Uses no data folder. The client libraries are part of a checkout, not of the npm package.",
  ],
  arguments: [],
  actions: {},
  options: {},
  exitCodes: ["all steps succeeded", "a step failed or this is no checkout"],
  example: "etagere tour",
  run: tour,
});

async function tour(): Promise<number> {
  const script = new URL("../../scripts/tour.mjs", import.meta.url);
  if (!existsSync(fileURLToPath(script))) {
    process.stderr.write("etagere: the tour needs a checkout: git clone, then bin/etagere tour\n");
    return 1;
  }
  await import(script.href);
  return 0;
}
