import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll } from "vitest";

export interface Child {
  readonly process: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly ended: Promise<unknown>;
}

export interface SecondProcess {
  (mode: string, location: string, ...rest: readonly string[]): Child;
  readonly script: string;
}

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Compiles `second-process.ts` before the tests of a file and returns a function that runs it.
 *  Afterwards all children are killed. */
export function secondProcess(): SecondProcess {
  // Below node_modules, so that the compiled child finds the packages.
  const compiled = join(root, "node_modules/.cache", `second-process-${process.pid}`);
  const script = join(compiled, "store/conformance/second-process.js");
  const children: ChildProcess[] = [];
  beforeAll(() => compile(compiled));
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(compiled, { recursive: true });
  });
  const start = (mode: string, location: string, ...rest: readonly string[]): Child => {
    const args = [script, mode, location, ...rest];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { process: child, lines, ended: once(child, "exit") };
  };
  return Object.assign(start, { script });
}

function compile(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { rootDir: join(root, "src"), outDir: folder, sourceMap: false },
    include: [],
    files: [join(root, "src/store/conformance/second-process.ts")],
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", join(folder, "tsconfig.json")]);
}
