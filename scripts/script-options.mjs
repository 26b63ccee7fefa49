// Options of the scripts. What a script does and takes is the comment at its start, which is also
// what `--help` prints.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** With `--help`, prints the usage of the script (its `import.meta.url`) and ends this process. */
export function answerHelp(script) {
  if (!process.argv.slice(2).includes("--help")) return;
  console.log(usageOf(script));
  process.exit(0);
}

/**
 * The result of `parse`; if it throws, as `parseArgs` of Node.js for a wrong option, ends this
 * process with the usage of the script.
 * @template T
 * @param {string} script
 * @param {() => T} parse
 * @returns {T}
 */
export function orUsage(script, parse) {
  answerHelp(script);
  try {
    return parse();
  } catch (error) {
    console.error(`${error.message.split(". ")[0]}\n\n${usageOf(script)}`);
    return process.exit(2);
  }
}

function usageOf(script) {
  const lines = readFileSync(fileURLToPath(script), "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ""))
    .join("\n");
}
