import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, it } from "vitest";

/** The packages and the files below `src` that are loaded together with `entry`. */
function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    if (!path.startsWith("src/")) continue;
    const imports = readFileSync(path, "utf8").matchAll(
      /^(?:import|export) (?!type\b)([^;]*?) from "([^"]+)";/gms,
    );
    for (const [, clause = "", name = ""] of imports) {
      const isTypes = /^\{(\s*type \w+( as \w+)?,?\s*)+\}$/.test(clause);
      if (isTypes || name.startsWith("node:")) continue;
      loaded.add(name.startsWith(".") ? posix.join(posix.dirname(path), name) : name);
    }
  }
  return loaded;
}

// The supervisor of several workers lives as long as they do, and serves nothing. A hundred modules
// of the server cost it a MiB of memory.
it.each(["src/cli/run-command-line.ts", "src/workers/supervisor.ts"])(
  "%s loads neither services nor stores",
  (entry) => {
    const loaded = [...loadedWith(entry)];
    const isServer = /^src\/(blob|queue|table|file|smb|content|operation|encoding)\//;
    expect(loaded.filter((name) => isServer.test(name))).toEqual([]);
    expect(loaded.filter((name) => !name.startsWith("src/"))).toEqual(
      entry.startsWith("src/cli") ? ["pino"] : [],
    );
    expect(loaded.length).toBeGreaterThan(10);
    expect(loaded.length).toBeLessThan(80);
  },
);

it("finds the services and stores that a server loads", () => {
  const loaded = loadedWith("src/server/start.ts");
  expect(loaded.has("lmdb")).toBe(true);
  expect(loaded.has("src/blob/service.ts")).toBe(true);
});
