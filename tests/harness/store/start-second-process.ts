import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { afterAll, beforeAll } from "vitest";

import { compileChild, compiledFolder } from "./compile-child.ts";

export interface Child {
  readonly process: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly ended: Promise<unknown>;
}

export interface SecondProcess {
  (mode: string, location: string, ...rest: readonly string[]): Child;
  readonly script: string;
}

/** Compiles `second-process.ts` before the tests of a file and returns a function that runs it.
 *  Afterwards all children are killed. */
export function secondProcess(): SecondProcess {
  const compiled = compiledFolder("second-process");
  const script = join(compiled, "tests/harness/store/second-process.js");
  const children: ChildProcess[] = [];
  beforeAll(() => compileChild("tests/harness/store/second-process.ts", compiled));
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
