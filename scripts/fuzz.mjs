// `npm run fuzz`: every parser of client bytes (tests/fuzz/targets.ts) with inputs that Jazzer.js
// chooses by the branches that they reach.
//   npm run fuzz                                   all targets, 1,000,000 executions of each
//   npm run fuzz -- xml smb2 --executions 20000    some of them
//   npm run fuzz -- xml --seconds 60               for a time
// Jazzer.js is no dependency: it is installed once, into a folder that git ignores. Its native part
// needs glibc 2.38. ETAGERE_FUZZ_LIBC names a folder with a newer libc6, libstdc++6 and libgcc-s1
// (unpacked Debian packages) for systems with an older one. A failing input is kept in
// .build/fuzz-found; `npm run fuzz -- TARGET --input FILE` repeats it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureInstalled, root, run, tool } from "./prepare.mjs";
import { orUsage } from "./script-options.mjs";

const version = "4.0.0";
const home = join(root, ".bench", `jazzer-${version}`);
const program = join(home, "node_modules", "@jazzer.js", "core", "dist", "cli.js");
const built = join(root, ".build", "fuzz");
const found = join(root, ".build", "fuzz-found");
const limits = ["-rss_limit_mb=3000", "-max_len=24000"];

const { values, positionals } = orUsage(import.meta.url, () =>
  parseArgs({
    allowPositionals: true,
    options: {
      executions: { type: "string", default: "1000000" },
      seconds: { type: "string", default: "0" },
      input: { type: "string" },
    },
  }),
);
ensureInstalled();
if (!existsSync(program)) {
  mkdirSync(home, { recursive: true });
  const dependencies = { "@jazzer.js/core": version };
  writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies }));
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: home });
}
run(tool("vite"), ["build", "--config", "scripts/fuzz.config.mjs", "--logLevel", "warn"]);
const { fuzzTargets } = createRequire(import.meta.url)(join(built, "targets.cjs"));
const names = positionals.length === 0 ? Object.keys(fuzzTargets) : positionals;
const unknown = names.find((name) => fuzzTargets[name] === undefined);
if (unknown !== undefined) {
  console.error(`no target "${unknown}"; there are ${Object.keys(fuzzTargets).join(", ")}`);
  process.exit(2);
}
mkdirSync(found, { recursive: true });
const failed = [];
for (const name of names) if (!(await fuzz(name, fuzzTargets[name]))) failed.push(name);
if (failed.length > 0) console.error(`fuzz: failing inputs of ${failed.join(", ")} in ${found}`);
process.exit(failed.length > 0 ? 1 : 0);

async function fuzz(name, target) {
  const [first, ...others] = target.samples();
  const result = target.run(Buffer.from(first));
  const isSynchronous = !(result instanceof Promise);
  await result;
  const corpus = join(built, `corpus-${name}`);
  mkdirSync(corpus, { recursive: true });
  for (const [index, bytes] of [first, ...others].entries()) {
    writeFileSync(join(corpus, `sample-${index}`), bytes);
  }
  const entry = join(built, `${name}.cjs`);
  writeFileSync(entry, `exports.fuzz = require("./targets.cjs").fuzzTargets["${name}"].run;\n`);
  const words = [entry, values.input ?? corpus, "--includes", "targets.cjs"];
  words.push(
    "--timeout",
    "10000",
    "--disableBugDetectors",
    ".*",
    ...(isSynchronous ? ["--sync"] : []),
    "--",
    ...limits,
  );
  if (values.input === undefined) {
    words.push(`-runs=${values.executions}`, `-max_total_time=${values.seconds}`);
  }
  const start = performance.now();
  const [command, ...before] = [...loader(), process.execPath, program];
  const { status, stderr } = spawnSync(
    command,
    [...before, ...words, `-artifact_prefix=${found}/${name}-`],
    { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 },
  );
  const seconds = (performance.now() - start) / 1000;
  // Output after this line was once cut off: statistics at the end are no sign of success.
  const runs = /^#(\d+)\s+DONE/m.exec(stderr)?.[1];
  const branches = [...stderr.matchAll(/cov: (\d+)/g)].at(-1)?.[1] ?? "?";
  // A process that ended without its figures did not do its work.
  const isDone = status === 0 && (runs !== undefined || values.input !== undefined);
  const verdict = isDone ? "" : `FAILED (${status})`;
  console.log(
    `${name}: ${runs ?? 0} executions in ${seconds.toFixed(0)} s, ${branches} edges ${verdict}`,
  );
  if (!isDone) console.error(stderr.slice(-3000));
  return isDone;
}

function loader() {
  const folder = process.env["ETAGERE_FUZZ_LIBC"];
  if (folder === undefined) return [];
  return [join(folder, "ld-linux-x86-64.so.2"), "--library-path", folder];
}
