import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Release {
  readonly version: string;
  readonly node: string | undefined;
}

/** An installed Azurite, and the Node that runs it. */
export interface InstalledAzurite {
  readonly program: string;
  readonly version: string;
  readonly node: string;
}

/**
 * Installs the newest Azurite. It is not a dependency: it is installed once for the comparison,
 * into a folder that git ignores. If it needs a newer Node than this one, that of the npm package
 * `node` is installed beside it.
 */
export function installAzurite(): InstalledAzurite {
  const { version, node: engines } = newestOf(readReleases());
  const needed = neededNode(process.versions.node, engines);
  const home = join(process.cwd(), ".bench", `azurite-${version}`);
  const program = join(home, "node_modules", "azurite", "dist", "src", "azurite.js");
  const ownNode = join(home, "node_modules", "node", "bin", "node");
  if (!existsSync(program) || (needed !== undefined && !existsSync(ownNode))) {
    mkdirSync(home, { recursive: true });
    const dependencies = { azurite: version, ...(needed === undefined ? {} : { node: needed }) };
    writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, dependencies }));
    console.log(`installing Azurite ${version} …`);
    const words = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    execFileSync("npm", words, { cwd: home, stdio: "inherit" });
  }
  return { program, version, node: needed === undefined ? process.execPath : ownNode };
}

function readReleases(): readonly Release[] {
  const words = ["view", "azurite@>=3.30", "version", "engines.node", "--json", "--loglevel=error"];
  const text = execFileSync("npm", words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const listed = JSON.parse(text) as readonly Readonly<Record<string, string>>[];
  return listed.map((one) => ({ version: one["version"] ?? "", node: one["engines.node"] }));
}

export function newestOf(releases: readonly Release[]): Release {
  const released = releases.filter(({ version }) => /^[\d.]+$/.test(version));
  const newest = released.toSorted((a, b) => compare(a.version, b.version)).at(-1);
  if (newest === undefined) throw new Error("the registry lists no release of Azurite");
  return newest;
}

/** The range of Node versions to install; undefined if this one suffices. */
export function neededNode(own: string, engines: string | undefined): string | undefined {
  const least = /^>=\s*([\d.]+)$/.exec(engines ?? "")?.[1];
  return least === undefined || compare(own, least) >= 0 ? undefined : `^${least}`;
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
