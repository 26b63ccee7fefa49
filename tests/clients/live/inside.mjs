// Runs inside the namespace that `live.mjs` creates, where the host names of the service lead to
// this machine and nothing else can be reached: for each library a server, then its tests. Writes
// the results to a file.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCloud } from "./cloud.mjs";
import { goSuite } from "./go.mjs";
import { pythonSuite } from "./python.mjs";

const [kind, work, resultFile, pattern, ...libraries] = process.argv.slice(2);
const suite = kind === "go" ? goSuite : pythonSuite;
const results = [];
for (const library of libraries) {
  console.log(`\n== ${library}`);
  const location = join(work, `data-${library}`);
  rmSync(location, { recursive: true, force: true });
  const cloud = await startCloud(work, location);
  try {
    const found = await suite.run({
      work,
      library,
      pattern,
      env: { ...process.env, ...cloud.env },
    });
    results.push(...found.map((one) => ({ library, ...one })));
  } finally {
    await cloud.stop();
    rmSync(location, { recursive: true, force: true });
  }
  writeFileSync(resultFile, JSON.stringify(results));
}
