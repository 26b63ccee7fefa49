import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { usageError, type Subcommand } from "./subcommand.ts";

export const tourCommand: Subcommand = {
  name: "tour",
  usage: "",
  summary: "show what clients can rely on (in a checkout)",
  help: [
    "Starts a server of its own on free ports, in memory, and shows with the official client",
    "libraries what can be relied on: ETags, leases, locks, messages that come back, a file behind",
    "two doors. It touches no data folder. The libraries are part of a checkout only.",
    "",
    "exit code: 0 all promises were kept, 1 one was not, or this is no checkout",
    "example:   etagere tour",
  ],
  run: tour,
};

async function tour(words: readonly string[]): Promise<number> {
  if (words.length > 0) {
    process.stderr.write(usageError(tourCommand, "it takes no options"));
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
