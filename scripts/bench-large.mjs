// `node scripts/bench-large.mjs [--blobs N]`: see scripts/bench/large.ts.
import { runBench } from "./bench-prepare.mjs";

runBench("large");
