// `npm run test:clients -- --hadoop [MODE …] [--test PATTERN] [--work FOLDER]`: runs the tests of
// Hadoop's own driver (hadoop-azure), unchanged, each class in a process of its own, as Hadoop does.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { execute, executeInBackground, inWorkFolder, need, suiteOptions } from "../commands.mjs";
import { compared, printed, testsOf } from "../live/report.mjs";
import { startServer } from "../server.mjs";
import { contractSettings, flagsOf, javaOptions, modes, settingsOf } from "./settings.mjs";

const here = import.meta.dirname;
const jar = "hadoop-azure-3.4.2-tests.jar";
const classMinutesMax = 20;
/** Many tests only wait. */
const processesPerCore = 2;
/** Classes that run again, alone: some tests fail because others take the time of the machine. */
const repeatsMax = 20;

/** Returns whether tests failed or were skipped as `expected.json` says. */
export async function runHadoopSuite(words) {
  const { names, pattern, folder } = suiteOptions(Object.keys(modes), words);
  return inWorkFolder(folder, async (work) => {
    prepare(work);
    const isAsExpected = [];
    for (const mode of names) {
      const results = await runMode({ work, mode, pattern: new RegExp(pattern) });
      isAsExpected.push(report(mode, results, pattern === ""));
    }
    return isAsExpected.every(Boolean);
  });
}

function prepare(work) {
  need("javac", ["-version"]);
  if (!existsSync(join(work, "lib", jar))) {
    cpSync(join(here, "pom.xml"), join(work, "pom.xml"));
    const words = ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"];
    need("mvn", words, { cwd: work });
  }
  execute("javac", ["-cp", "lib/*", "-d", ".", join(here, "Results.java")], { cwd: work });
}

async function runMode({ work, mode, pattern }) {
  const cwd = join(work, mode);
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(cwd);
  const location = join(cwd, "data");
  // A filesystem for each class, because contract tests delete what is in theirs.
  const classes = classesIn(work)
    .filter((name) => pattern.test(name))
    .map((name, index) => ({ name, filesystem: `contract-${index}` }));
  const filesystems = classes.map(({ filesystem }) => filesystem);
  const server = await startServer(location, flagsOf(modes[mode], cwd, filesystems));
  try {
    // As Hadoop runs them: some tests write files beside their classes. Its log would be long.
    execute("unzip", ["-q", "-o", join("..", "lib", jar), "-x", "log4j*", "-d", "."], { cwd });
    const settings = settingsOf(modes[mode], server, location);
    const options = javaOptions(location, cwd);
    const run = ({ name, filesystem }, folder) => {
      const own = { ...settings, ...contractSettings(filesystem) };
      return runClass({ cwd, name, folder: join(cwd, folder), settings: own, options });
    };
    const known = expectedOf(mode);
    const isUnexpected = (line) =>
      compared(known, [resultOf(mode)(line)], { libraries: [], isComplete: false }).failed
        .unexpected.length > 0;
    const lines = await runClasses(classes, run, isUnexpected);
    writeFileSync(join(cwd, "results.tsv"), lines.join("\n"));
    return lines.map(resultOf(mode));
  } finally {
    await server.stop();
  }
}

async function runClasses(classes, run, isUnexpected) {
  const waiting = [...classes];
  const linesOf = new Map();
  await Promise.all(
    Array.from({ length: processesPerCore * availableParallelism() }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        linesOf.set(next.name, await run(next, next.name));
      }
    }),
  );
  const repeated = classes.filter(({ name }) => linesOf.get(name).some(isUnexpected));
  for (const one of repeated.slice(0, repeatsMax)) {
    const unexpected = linesOf.get(one.name).filter(isUnexpected);
    console.log(`again, alone, because of ${unexpected.map(testIn).join(", ")}:`);
    linesOf.set(one.name, await run(one, `${one.name}-again`));
  }
  return classes.flatMap(({ name }) => linesOf.get(name));
}

/** The classes with tests: those that are not abstract and have tests of their own. */
function classesIn(work) {
  const list = join(work, "classes.txt");
  execute("sh", ["-c", `unzip -Z1 lib/${jar} > classes.txt`], { cwd: work });
  return readFileSync(list, "utf8")
    .split("\n")
    .filter((path) => /\/azurebfs\/(.*\/)?I?Test\w+\.class$/.test(path))
    .map((path) => path.replace(/\.class$/, "").replaceAll("/", "."))
    .filter((name) => !/TestConfigurationKeys$|\.TestMockHelpers$/.test(name))
    .toSorted();
}

/** Returns a line for each test: outcome, name and text, with tabs between them. */
async function runClass({ cwd, name, folder, settings, options }) {
  console.log(shortName(name));
  const results = `${folder}.tsv`;
  writeFileSync(results, "");
  // Some tests delete their folder of data.
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  for (const file of ["azure-test.xml", "abfs.xml", "core-site.xml"]) {
    cpSync(join(cwd, file), join(folder, file));
  }
  writeFileSync(join(folder, "azure-auth-keys.xml"), xmlOf(settings));
  const words = [
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "-Xmx900m",
    // Most processes are short: less compilation and one thread for garbage make them cheaper.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    ...options,
    `-Dtest.build.data=${data}`,
    `-Djava.io.tmpdir=${folder}`,
    `-Dhadoop.log.dir=${folder}`,
    "-cp",
    `${folder}:${cwd}:..:../lib/*`,
    "Results",
    results,
    name,
  ];
  const log = join(folder, "output.log");
  const program = ["-c", 'exec java "$@" > "$0" 2>&1', log, ...words];
  const timeout = classMinutesMax * 60_000;
  const code = await executeInBackground("sh", program, { cwd, timeout, killSignal: "SIGKILL" });
  const lines = readFileSync(results, "utf8").split("\n").filter(Boolean);
  return code === 0 ? lines : [...lines, `failed\t${name}\tended with ${code}`];
}

function shortName(name) {
  return name.replace(/^.*?azurebfs\./, "");
}

function testIn(line) {
  return shortName(line.split("\t")[1]);
}

function resultOf(mode) {
  return (line) => {
    const [outcome, , text = ""] = line.split("\t");
    const output = text.replaceAll("\u2028", "\n");
    return { library: mode, test: testIn(line), outcome, output };
  };
}

/** A reason of `expected.json` is for all modes, or for those that it names. */
function expectedOf(mode) {
  const expected = JSON.parse(readFileSync(join(here, "expected.json"), "utf8"));
  const [failed, skipped] = [expected.failed, expected.skipped].map((reasons) =>
    testsOf(reasons.filter((one) => one.modes?.includes(mode) ?? true)).map((one) => ({
      ...one,
      test: `${mode} ${one.test}`,
    })),
  );
  return { failed, skipped };
}

function report(mode, results, isComplete) {
  const comparison = compared(expectedOf(mode), results, { libraries: [mode], isComplete });
  console.log(`\n== ${mode}${printed(results, comparison)}`);
  return comparison.isAsExpected;
}

function xmlOf(settings) {
  const properties = Object.entries(settings).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  return `<configuration>\n${properties.join("\n")}\n</configuration>\n`;
}
