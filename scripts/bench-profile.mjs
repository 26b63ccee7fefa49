// `npm run bench:profile -- OPERATION…`: see scripts/bench/profile.ts.
import { runBench } from "./bench-prepare.mjs";

runBench("profile", { needsServer: !process.argv.some((word) => word.startsWith("--program")) });
