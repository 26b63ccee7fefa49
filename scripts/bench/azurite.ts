import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Release {
  readonly version: string;
  readonly node: string | undefined;
}

/**
 * Path of the newest Azurite that runs on this Node. It is not a dependency: it is installed
 * once for the comparison, into a folder that git ignores.
 */
export function installAzurite(): { readonly program: string; readonly version: string } {
  const version = newestFor(process.versions.node, readReleases());
  const home = join(process.cwd(), ".bench", `azurite-${version}`);
  const program = join(home, "node_modules", "azurite", "dist", "src", "azurite.js");
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    const manifest = { private: true, dependencies: { azurite: version } };
    writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
    console.log(`installing Azurite ${version} …`);
    const words = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    execFileSync("npm", words, { cwd: home, stdio: "inherit" });
  }
  return { program, version };
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

export function newestFor(node: string, releases: readonly Release[]): string {
  const running = releases
    .filter((release) => {
      const least = /^>=\s*([\d.]+)$/.exec(release.node ?? "")?.[1];
      return /^[\d.]+$/.test(release.version) && (least === undefined || compare(node, least) >= 0);
    })
    .map(({ version }) => version);
  const newest = running.toSorted(compare).at(-1);
  if (newest === undefined) throw new Error(`no Azurite runs on Node ${node}`);
  return newest;
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
