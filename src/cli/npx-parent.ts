import { environmentVariable } from "../host/world.ts";

const pollMilliseconds = 250;

/** Whether the shell of `npx` or `npm exec` has started one of this program's names, and nothing
 *  else. npm sets both variables; whether the script has quotes and arguments depends on its
 *  version. A server that a tool has started under npx may outlive that tool. */
export function isStartedByNpx(read: (name: string) => string | undefined): boolean {
  const script = read("npm_lifecycle_script") ?? "";
  const isProgram = /^['"]?(etagere|azurite(-\w+)?)['"]?(\s|$)/.test(script);
  return read("npm_lifecycle_event") === "npx" && isProgram;
}

/** Calls back once npx has ended, if it is the parent of this process. npx and its shell end on
 *  SIGTERM without passing it on. Windows keeps the number of a parent that has ended, so that
 *  nothing happens there. */
export function onNpxEnded(callback: () => void): void {
  if (!isStartedByNpx(environmentVariable)) return;
  const parent = process.ppid;
  const polling = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(polling);
    callback();
  }, pollMilliseconds);
  polling.unref();
}
