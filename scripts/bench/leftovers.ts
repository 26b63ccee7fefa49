import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";

const children = new Set<ChildProcess>();
const folders = new Set<string>();

/** Stops servers and deletes their data when a run is interrupted. */
export function endWithUs(child: ChildProcess): void {
  children.add(child);
  child.once("exit", () => children.delete(child));
}

export function removeWithUs(folder: string): void {
  folders.add(folder);
}

process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
