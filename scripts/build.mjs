// `npm run build`: compiles the server and the explorer's page.
//   -- --executable                       also builds a single executable for this platform
//   -- --executable=linux-arm64,…         for other platforms (scripts/release/platforms.mjs)
//   -- --packages                         also packs the npm packages
//   -- --output FOLDER                    where they are written, with a bill of materials and
//                                         checksums; default release
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, ensureInstalled, root } from "./prepare.mjs";
import { hostPlatform, platforms } from "./release/platforms.mjs";
import { orUsage } from "./script-options.mjs";

const words = process.argv
  .slice(2)
  .map((word) => (word === "--executable" ? `${word}=host` : word));
const { values } = orUsage(import.meta.url, () =>
  parseArgs({
    args: words,
    options: {
      executable: { type: "string" },
      packages: { type: "boolean", default: false },
      output: { type: "string", default: "release" },
    },
  }),
);
const executables = (values.executable?.split(",") ?? []).map((name) =>
  name === "host" ? hostPlatform : name,
);
const unknown = executables.find((name) => platforms[name] === undefined);
if (unknown !== undefined) {
  console.error(
    `--executable: no platform "${unknown}"; there are ${Object.keys(platforms).join(", ")}`,
  );
  process.exit(2);
}
ensureInstalled();
build();
if (executables.length > 0 || values.packages) {
  const { writeRelease } = await import("./release/release.mjs");
  const output = resolve(root, values.output);
  const files = await writeRelease({ output, executables, hasPackages: values.packages });
  for (const file of files) console.error(`etagere: wrote ${relative(root, output)}/${file}`);
}
