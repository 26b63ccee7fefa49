// `npm run fuzz`: bad input in earnest. ETAGERE_FUZZ_SEED and ETAGERE_FUZZ_REQUESTS (for each
// service) say which and how much; without a seed every run is another one.
import { ensureInstalled, run, tool } from "./prepare.mjs";

ensureInstalled();
const settings = {
  ETAGERE_FUZZ_SEED: String(Date.now() % 1_000_000),
  ETAGERE_FUZZ_REQUESTS: "50000",
  ...process.env,
};
run(tool("vitest"), ["run", "tests/fuzz", ...process.argv.slice(2)], { env: settings });
