// Options of the scripts. What a script does and takes is the comment at its start, which is also
// what `--help` prints.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** With `--help`, prints the usage of the script (its `import.meta.url`) and ends this process. */
export function answerHelp(script) {
  if (!process.argv.slice(2).includes("--help")) return;
  console.log(usageOf(script));
  process.exit(0);
}

/** As `parseArgs` of Node.js; after a wrong option ends this process with the usage of the script. */
export function scriptOptions(script, config) {
  answerHelp(script);
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${error.message.split(". ")[0]}\n\n${usageOf(script)}`);
    process.exit(2);
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
