import type { CopyReport } from "../commands/copy-data.ts";
import type { DataLocation } from "../data/data-locations.ts";
import { readSecretFile } from "../server/secret-options.ts";
import { messageOf } from "../host/start-refused.ts";
import { realEnvironment } from "../host/world.ts";
import { progressBar } from "./progress-bar.ts";
import { keepRunning, quietLog } from "./with-stores.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const copyCommand: Subcommand = {
  name: "copy",
  usage: "--from LOCATION --to LOCATION [--fromContent LOCATION] [--toContent LOCATION]",
  summary: "copy all data to another engine (folder, postgres://, s3://)",
  help: [
    "Copies all records and contents from one location to another, for example from a folder to a",
    "database and a bucket. Stop the servers of both first. An interrupted copy continues when the",
    "command is run again. At the end every byte and record is compared; until then no server",
    "opens the target.",
    "",
    "  --from, --to                 a data folder, or postgres://… for records",
    "  --fromFile, --toFile         a file that contains one of these, to hide a password",
    "  --fromContent, --toContent   s3://… or a folder for contents; required with postgres://",
    "",
    "exit code: 0 everything was copied and compared, 1 the copy is incomplete",
    "example:   etagere copy --from .etagere --to postgres://user:password@host/etagere \\",
    "             --toContent 's3://bucket/prefix?endpoint=https://…'",
  ],
  run: copy,
};

const options = {
  from: { type: "string" },
  to: { type: "string" },
  fromFile: { type: "string" },
  toFile: { type: "string" },
  fromContent: { type: "string" },
  toContent: { type: "string" },
} as const;

async function copy(words: readonly string[]): Promise<number> {
  const places = await parseLocations(words);
  if ("problem" in places) {
    process.stderr.write(usageError(copyCommand, places.problem));
    return 1;
  }
  try {
    const { records, extents, bytes } = await copyBetween(places);
    process.stdout.write(`copied and compared ${records} records, ${bytes} bytes`);
    process.stdout.write(` in ${extents} extents\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`etagere: ${messageOf(error)}\n`);
    return 1;
  }
}

interface CopyLocations {
  readonly from: DataLocation;
  readonly to: DataLocation;
}

async function copyBetween({ from, to }: CopyLocations): Promise<CopyReport> {
  const { checkDataLocation, isMissing, openDataLocation } =
    await import("../data/data-locations.ts");
  const { copyData } = await import("../commands/copy-data.ts");
  for (const [name, place] of Object.entries({ from, to })) {
    const problem = checkDataLocation(place);
    if (problem !== undefined) throw new Error(`--${name}: ${problem}`);
  }
  if (isMissing(from)) throw new Error(`--from: ${from.records} is no data folder`);
  const world = { ...realEnvironment(quietLog) };
  const bar = progressBar(process.stderr, () => performance.now());
  const fromName = [from.records, from.bytes].filter(Boolean).map(withoutPassword).join(" ");
  return keepRunning(async () => {
    const source = await openDataLocation(from, world);
    try {
      const target = await openDataLocation(to, world);
      try {
        return await copyData({ from: source, to: target, fromName, ...world, progress: bar });
      } finally {
        bar.end();
        await target.close();
      }
    } finally {
      await source.close();
    }
  });
}

function withoutPassword(place: string | undefined): string {
  return (place ?? "").replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}

async function parseLocations(words: readonly string[]): Promise<CopyLocations | Problem> {
  const read = parseCliArguments(words, options);
  if (!read.ok) return read;
  const from = await locationOf(read.texts, "from");
  const to = await locationOf(read.texts, "to");
  if (typeof from === "object") return from;
  if (typeof to === "object") return to;
  if (from === undefined || to === undefined || read.others.length > 0) {
    return { problem: "--from and --to are required, each with a value" };
  }
  return {
    from: { records: from, bytes: read.texts.get("fromContent") },
    to: { records: to, bytes: read.texts.get("toContent") },
  };
}

type Problem = { readonly problem: string };

/** The value of `--from` or `--to`, or the content of the file that `--fromFile` or `--toFile`
 *  names. */
async function locationOf(
  texts: ReadonlyMap<string, string>,
  name: "from" | "to",
): Promise<string | Problem | undefined> {
  const file = texts.get(`${name}File`);
  if (file === undefined) return texts.get(name);
  if (texts.has(name)) return { problem: `--${name}File contradicts --${name}` };
  const read = await readSecretFile(file);
  return read.ok ? read.value : { problem: `--${name}File: ${read.problems.join("; ")}` };
}
