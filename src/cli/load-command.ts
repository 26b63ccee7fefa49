import { stat } from "node:fs/promises";
import { Transform, type Readable } from "node:stream";
import { openArchiveFile } from "../commands/archive/archive-file.ts";
import type { LoadReport } from "../commands/archive/load-archive.ts";
import type { LoadRequest } from "../commands/archive/server-archives.ts";
import {
  accessArchives,
  archiveHelp,
  archiveOptions,
  figures,
  findContradiction,
  sendArchive,
} from "./archive-access.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { printFailure, usageError, type Subcommand } from "./subcommand.ts";
import { progressBar, type ProgressBar } from "./progress-bar.ts";

export const loadCommand: Subcommand = {
  name: "load",
  usage: "FILE|- [--as NAME] [--replace] [--location FOLDER | --url URL]",
  summary: "load an archive of accounts into a server or data folder",
  help: [
    "Loads the accounts of an archive that etagere export has written, into a running server or",
    "the data folder of a stopped one. All data appears at once at the end. A load that fails or",
    "is killed changes nothing. ETags, times, snapshots and version ids are kept.",
    "",
    "An account that has no data gets that of the archive, and keeps its keys and settings. An",
    "account that has data is refused, before anything is changed, unless --replace is given.",
    "An account that does not exist is created, with new keys unless the archive has keys.",
    "",
    "  FILE                    the archive; - for standard input",
    "      --as NAME           load the only account of the archive under another name",
    "      --replace           delete the present data of the accounts, also what is immutable",
    ...archiveHelp,
    "",
    "exit code: 0 everything was loaded, 1 nothing was loaded",
    "example:   etagere load fixture.etagere --replace",
  ],
  run,
};

const options = {
  ...archiveOptions,
  as: { type: "string" },
  replace: { type: "boolean" },
} as const;

async function run(words: readonly string[]): Promise<number> {
  const read = parseCliArguments(words, options);
  const [path, ...more] = read.ok ? read.others : [];
  const contradiction = read.ok ? findContradiction(read.texts) : undefined;
  if (!read.ok || path === undefined || more.length > 0 || contradiction !== undefined) {
    const problem = read.ok ? (contradiction ?? "exactly one archive is required") : read.problem;
    process.stderr.write(usageError(loadCommand, problem));
    return 1;
  }
  const { texts, switches } = read;
  const request = { as: texts.get("as"), replace: switches.has("replace") };
  try {
    const report = await loadFrom(path, texts, request);
    const text = switches.has("json") ? `${JSON.stringify(report)}\n` : textOf(report);
    process.stdout.write(text);
    return 0;
  } catch (error) {
    return printFailure(error, "nothing was loaded");
  }
}

async function loadFrom(
  path: string,
  texts: ReadonlyMap<string, string>,
  request: LoadRequest,
): Promise<LoadReport> {
  const bar = progressBar(process.stderr, () => performance.now());
  bar.begin("loading", path === "-" ? undefined : (await stat(path)).size);
  // Opened when it is read: a server that does not respond must not consume a part of it.
  const open = (): Readable => openArchive(path, bar);
  try {
    return await accessArchives(texts, {
      mayCreate: true,
      onServer: async (server) => {
        const query = new URLSearchParams({ replace: String(request.replace) });
        if (request.as !== undefined) query.set("as", request.as);
        return (await sendArchive(server, query, open)) as LoadReport;
      },
      onStore: (archives) => archives.load(open(), request),
    });
  } finally {
    bar.end();
  }
}

/** A signal ends the input with an error, so that what was stored so far is deleted soon. */
function openArchive(path: string, bar: ProgressBar): Readable {
  const source = path === "-" ? process.stdin : openArchiveFile(path);
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bar.add(chunk.length);
      done(null, chunk);
    },
  });
  source.once("error", (error) => counted.destroy(error));
  const interrupt = (): void => void counted.destroy(new Error("interrupted"));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  return source.pipe(counted);
}

function textOf({ accounts, records, contentBytes }: LoadReport): string {
  const lines = accounts.flatMap(({ name, isReplaced, keys = [] }) => [
    `${name}: ${keys.length > 0 ? "created and loaded" : isReplaced ? "replaced" : "loaded"}`,
    ...keys.map((key, index) => `key ${index + 1}: ${key}`),
  ]);
  return [...lines, figures(records, contentBytes), ""].join("\n");
}
