// `bin/etagere tour`: demonstrates the guarantees with the official client libraries.
import { join } from "node:path";
import { copyFileSync, rmSync } from "node:fs";
import { ensureInstalled, root, run, tool } from "./prepare.mjs";

const built = join(root, ".build", "tour");
ensureInstalled();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.tour.json"]);
// The server reads its version from the package.json two folders above it.
copyFileSync(join(root, "package.json"), join(built, "package.json"));
run(process.execPath, [join(built, "examples", "tour", "main.js")]);
