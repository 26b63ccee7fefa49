import { copyData, type CopyReport } from "../server/data-copy/copy-data.ts";
import {
  checkPlace,
  isMissing,
  openDataLocation,
  type DataLocation,
} from "../server/data-copy/data-locations.ts";
import { messageOf } from "../server/start-refused.ts";
import { realSurroundings } from "../server/start.ts";
import { progressBar } from "./progress-bar.ts";
import { quietLog } from "./quiet-log.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const copyCommand: Subcommand = {
  name: "copy",
  usage: "--from PLACE --to PLACE [--fromContent PLACE] [--toContent PLACE]",
  summary: "move to another engine (postgres://, s3://)",
  help: [
    "Copies everything from one place to another, whatever engines they use: from a folder to a",
    "database and a bucket, or back. The servers of both must be stopped. A copy that broke off",
    "goes on when it is run again; every byte and record is compared at the end, and no server",
    "opens a place that is half a copy.",
    "",
    "  --from, --to                 a data folder, or postgres://… for the records",
    "  --fromContent, --toContent   s3://… for the bytes, or with postgres:// also a folder",
    "",
    "exit code: 0 everything is there and the same, 1 it is not",
    "example:   etagere copy --from .etagere --to postgres://user:password@host/etagere \\",
    "             --toContent 's3://bucket/prefix?endpoint=https://…'",
  ],
  run: copy,
};

const options = {
  from: { type: "string" },
  to: { type: "string" },
  fromContent: { type: "string" },
  toContent: { type: "string" },
} as const;

async function copy(words: readonly string[]): Promise<number> {
  const places = readPlaces(words);
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

interface Places {
  readonly from: DataLocation;
  readonly to: DataLocation;
}

async function copyBetween({ from, to }: Places): Promise<CopyReport> {
  for (const [name, place] of Object.entries({ from, to })) {
    const problem = checkPlace(place);
    if (problem !== undefined) throw new Error(`--${name}: ${problem}`);
  }
  if (isMissing(from)) throw new Error(`--from: ${from.records} is no data folder`);
  const world = { ...realSurroundings(quietLog) };
  const bar = progressBar(process.stderr, () => performance.now());
  const fromName = [from.records, from.bytes].filter(Boolean).map(withoutPassword).join(" ");
  // Pauses alone keep no process alive, and a bucket or a database may make it pause.
  const staying = setInterval(() => {}, 60_000);
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
    clearInterval(staying);
  }
}

function withoutPassword(place: string | undefined): string {
  return (place ?? "").replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, "$1:***@");
}

function readPlaces(words: readonly string[]): Places | { readonly problem: string } {
  const read = parseCliArguments(words, options);
  if (!read.ok) return read;
  const from = read.texts.get("from");
  const to = read.texts.get("to");
  if (from === undefined || to === undefined || read.others.length > 0) {
    return { problem: "it takes --from and --to, and words only after an option" };
  }
  return {
    from: { records: from, bytes: read.texts.get("fromContent") },
    to: { records: to, bytes: read.texts.get("toContent") },
  };
}
