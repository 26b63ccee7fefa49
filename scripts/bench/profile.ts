// `npm run bench -- --profile put-1k …`: profiles the server under the load of an operation and
// draws a flame graph in docs/bench.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Generator } from "./generating.ts";
import { callTreeOf } from "./profile/call-tree.ts";
import type { CpuProfile, Span } from "./profile/call-tree.ts";
import { flameGraph } from "./profile/flame-graph.ts";
import { hotFunctions } from "./profile/hot-functions.ts";
import { writeSection } from "./report/write.ts";
import { scenarioOf } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { newFolder, startEtagere } from "./servers.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    connections: { type: "string", default: "64" },
    program: { type: "string", default: "dist/cli/main.js" },
    out: { type: "string", default: "docs/bench" },
  },
});
const hotMax = 25;
const warmUpSeconds = 3;
const sampleMicroseconds = 250;

if (positionals.length === 0) {
  console.error("usage: npm run bench -- --profile OPERATION… [--seconds N] [--out FOLDER]");
  process.exit(2);
}
mkdirSync(values.out, { recursive: true });
for (const name of positionals) await profileOne(scenarioOf(name));
writeSection(values.out, "profiles", drawnIn(values.out));

async function profileOne(scenario: Scenario): Promise<void> {
  const folder = newFolder("profile");
  const how = ["--cpu-prof", `--cpu-prof-dir=${folder}`];
  const nodeWords = [...how, `--cpu-prof-interval=${sampleMicroseconds}`];
  const { hierarchical } = scenario;
  const server = await startEtagere({ program: values.program, nodeWords, hierarchical });
  const generator = new Generator(scenario.name);
  let from = 0;
  let to = 0;
  try {
    const { address } = server;
    const site = { name: "profiled", stored: scenario.stored };
    const load = { name: address.name, connections: Number(values.connections) };
    await generator.prepare({ address, site, filled: false });
    await generator.run({ ...load, seconds: warmUpSeconds });
    await generator.run({ ...load, seconds: Number(values.seconds) }, () => (from = now()));
    to = now();
  } finally {
    generator.stop();
    // V8 writes the profile when the server ends.
    await server.stop();
  }
  draw(scenario, readProfile(folder), { from, to });
  rmSync(folder, { recursive: true, force: true });
}

function draw({ name, title }: Scenario, profile: CpuProfile, span: Span): void {
  const tree = callTreeOf(profile, span);
  const path = join(values.out, `flame-${name}.svg`);
  const busy = Math.round((tree.microseconds / (span.to - span.from)) * 100);
  const heading = `${title}: main thread, busy ${busy} % of ${values.seconds} s`;
  writeFileSync(path, flameGraph(tree, heading));
  for (const { where, share } of hotFunctions(tree, hotMax)) {
    console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
  }
  console.log(`written to ${path}`);
}

/** All flame graphs in the folder. */
function drawnIn(folder: string): string {
  const names = readdirSync(folder).filter((name) => /^flame-.*\.svg$/.test(name));
  return names
    .toSorted()
    .map((name) => `![${name.slice(6, -4)}](${name})`)
    .join("\n\n");
}

/** Worker threads write profiles as well; the main thread's is the largest. */
function readProfile(folder: string): CpuProfile {
  const profiles = readdirSync(folder)
    .filter((file) => file.endsWith(".cpuprofile"))
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile);
  const [largest] = profiles.toSorted((a, b) => b.nodes.length - a.nodes.length);
  if (largest === undefined) throw new Error("the server wrote no profile");
  return largest;
}

/** The clock of V8's samples. */
function now(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
