// `npm run bench:guard [-- --update]`: see scripts/bench/guard.ts.
// `npm run bench:guard -- --against COMMIT [--pairs 7] [--only REGEX]`: see bench/pairs.mjs.
import { comparePairs } from "./bench/pairs.mjs";
import { runBench } from "./bench/run.mjs";
import { answerHelp } from "./script-options.mjs";

answerHelp(import.meta.url);
if (process.argv.some((word) => word.startsWith("--against"))) await comparePairs();
else runBench("guard", { needsServer: false });
