// `npm run bench:guard [-- --update]`: see scripts/bench/guard.ts.
import { runBench } from "./bench-prepare.mjs";

runBench("guard", { needsServer: false });
