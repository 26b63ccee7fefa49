import { loadTour } from "./load-tour.ts";
import { defineCommand } from "./command.ts";

/** `etagere tour`: runs `examples/tour`, which demonstrates what the server guarantees. */
export const tourCommand = defineCommand({
  name: "tour",
  summary: "demonstrate the concurrency guarantees",
  description: [
    "Starts a server in memory on free ports and demonstrates its guarantees with the official " +
      "client libraries: ETags, leases, locks, message visibility, one file over REST and SMB. " +
      "Prints every request with its response. Uses no data folder.",
  ],
  exitCodes: ["all steps succeeded", "a step failed"],
  example: "etagere tour",
  run: async () => {
    const { printTour } = await loadTour();
    return { text: "", exitCode: await printTour() };
  },
});
