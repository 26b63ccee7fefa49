import { stat } from "node:fs/promises";
import { pipeline, Readable, Transform } from "node:stream";
import { openArchiveFile, openPlain } from "../commands/archive/archive-file.ts";
import type { LoadReport } from "../commands/archive/load-archive.ts";
import type { LoadRequest } from "../commands/archive/server-archives.ts";
import type { Progress } from "../commands/progress.ts";
import { ArchiveRefused, systemErrorCode } from "../host/refused.ts";
import { accessArchives, archiveOptions, sendArchive } from "./archive-access.ts";
import { defineCommand } from "./command.ts";
import { contentText, countText, showProgress } from "./progress.ts";

/** `etagere load`: loads an archive that `etagere export` has written, through the admin API of a
 *  running server, or into the stores themselves. */
export const loadCommand = defineCommand({
  name: "load",
  summary: "load an archive of accounts into a server or data folder",
  description: [
    "Loads the accounts of an archive that etagere export has written, into a running server or " +
      "the data folder of a stopped one. All data appears at once at the end. A load that fails " +
      "or is killed changes nothing. ETags, times, snapshots and version ids are kept.",
    "An account that has no data gets that of the archive, and keeps its keys and settings. An " +
      "account that has data is refused, before anything is changed, unless --replace is given. " +
      "An account that does not exist is created, with new keys unless the archive has keys.",
  ],
  arguments: [{ value: "FILE", kind: "stream", help: "the archive; - for standard input" }],
  options: {
    as: {
      kind: "name",
      value: "NAME",
      help: "load the only account of the archive under another name",
    },
    replace: {
      kind: "switch",
      help: "delete the present data of the accounts, also what is immutable",
    },
    ...archiveOptions,
  },
  exitCodes: ["everything was loaded", "nothing was loaded"],
  failure: "nothing was loaded",
  example: "etagere load fixture.etagere --replace",
  run: async ({ words: [path = ""], options }) => {
    const { as, replace, json, archiveKey = options.encryption } = options;
    const report = await showProgress({ json }, (progress) =>
      loadFrom(path, options, { as, replace, progress, archiveKey }),
    );
    return { report, text: textOf(report) };
  },
});

interface LoadSettings extends LoadRequest {
  readonly progress: Progress;
  /** Where to read the master key of an encrypted archive: `file:…`, `env:…` or `command:…`. */
  readonly archiveKey: string | undefined;
}

async function loadFrom(
  path: string,
  options: Parameters<typeof accessArchives>[0],
  { progress, archiveKey, ...request }: LoadSettings,
): Promise<LoadReport> {
  const bytes = path === "-" ? undefined : await sizeOf(path);
  progress.begin({ what: "loading", total: { bytes } });
  // Opened only when it is read: an attempt to reach a server must not consume standard input.
  const open = (): Readable => {
    const archive = openArchive(path, progress);
    return archiveKey === undefined ? archive : Readable.from(openPlain(archive, archiveKey));
  };
  return accessArchives(options, {
    mayCreate: true,
    onServer: async (server) => {
      const query = new URLSearchParams({ replace: String(request.replace) });
      if (request.as !== undefined) query.set("as", request.as);
      return (await sendArchive(server, query, open)) as LoadReport;
    },
    beforeOpening: () => checkBeginning(path, archiveKey),
    onStore: (archives) => archives.load(open(), request),
  });
}

/** Reads the beginning of an archive file, so that an archive that cannot be read at all, for
 *  example without its key, creates no data folder: the corrected command may have `--encryption`,
 *  which refuses a folder with plain data. */
async function checkBeginning(path: string, archiveKey: string | undefined): Promise<void> {
  if (path === "-" || !(await stat(path)).isFile()) return;
  // Not loaded with the command line: it loads the tables of all services.
  const { readFrames } = await import("../commands/archive/archive-format.ts");
  const archive = openArchiveFile(path);
  try {
    await readFrames(openPlain(archive, archiveKey)).next();
  } finally {
    archive.destroy();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    const isMissing = systemErrorCode(error) === "ENOENT";
    throw isMissing ? new ArchiveRefused([`${path}: no such file`], error) : error;
  }
}

/** Opens the archive and counts the bytes that are read. A signal ends this input with an error, so
 *  that what was stored so far is deleted soon. */
function openArchive(path: string, progress: Progress): Readable {
  const source = path === "-" ? process.stdin : openArchiveFile(path);
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      progress.add({ bytes: chunk.length });
      done(null, chunk);
    },
  });
  const interrupt = (): void => void counted.destroy(new Error("interrupted"));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  // Ends the source as well: an open FIFO or terminal would keep the process running. Errors reach
  // the reader of `counted`.
  pipeline(source, counted, () => {});
  return counted;
}

function textOf({ accounts, records, ...contents }: LoadReport): string {
  const lines = accounts.flatMap(({ name, isReplaced, keys = [] }) => [
    `${name}: ${keys.length > 0 ? "created and loaded" : isReplaced ? "replaced" : "loaded"}`,
    ...keys.map((key, index) => `key ${index + 1}: ${key}`),
  ]);
  return [...lines, `${countText(records)} records, ${contentText(contents)}`, ""].join("\n");
}
