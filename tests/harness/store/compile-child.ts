import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** A folder for compiled programs; below node_modules, so that they find the packages. */
export function compiledFolder(name: string): string {
  return join(root, "node_modules/.cache", `${name}-${process.pid}`);
}

/** Compiles a program for a child process, such as `tests/harness/crash-child.ts`, with all that it
 *  imports. Types are not checked: `npm run check` does that. */
export function compileChild(program: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      rootDir: root,
      outDir: folder,
      sourceMap: false,
      declaration: false,
      noCheck: true,
    },
    include: [],
    files: [join(root, program)],
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", join(folder, "tsconfig.json")]);
}
