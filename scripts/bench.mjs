// `npm run bench`: see scripts/bench/main.ts. Words after `--` are its options.
import { runBench } from "./bench-prepare.mjs";

runBench("main", { needsServer: !process.argv.some((word) => word.startsWith("--program")) });
