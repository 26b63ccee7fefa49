// `npm run docs`: writes what the documents derive from the declarations.
import { join } from "node:path";
import { buildScripts, ensureInstalled, root, run } from "./prepare.mjs";

ensureInstalled();
buildScripts();
for (const page of ["support-matrix", "contract"]) {
  run(process.execPath, [join(root, ".build", "scripts", `${page}.js`)]);
}
