// `npm run docs`: writes the parts of the documents that are derived from declarations and results.
import { join } from "node:path";
import { buildScripts, ensureInstalled, root, run } from "./prepare.mjs";
import { answerHelp } from "./script-options.mjs";

answerHelp(import.meta.url);
ensureInstalled();
buildScripts();
run(process.execPath, [join(root, "scripts", "docs", "dashboards.mjs")]);
for (const page of [
  "support-matrix",
  "identity-page",
  "contract",
  "bench-page",
  "options-page",
  "concurrency-page",
]) {
  run(process.execPath, [join(root, ".build", "scripts", "docs", `${page}.js`)]);
}
