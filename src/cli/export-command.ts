import { reportTrailer } from "../admin/views/archives.ts";
import type { ExportReport } from "../commands/archive/export-accounts.ts";
import { sinkTo, writeArchiveFile } from "../commands/archive/archive-file.ts";
import { ArchiveRefused } from "../commands/refused.ts";
import type { ArchiveSink } from "../commands/archive/frame-writer.ts";
import type { ServerArchives } from "../commands/archive/server-archives.ts";
import { accessArchives, archiveOptions, figures, requestExport } from "./archive-access.ts";
import type { ServerAddress } from "./admin-client.ts";
import { defineCommand, printFailure } from "./command.ts";
import { progressBar, type ProgressBar } from "./progress-bar.ts";

export const exportCommand = defineCommand({
  name: "export",
  summary: "write accounts with all their data to an archive",
  description: [
    "Writes one state of accounts to a file that etagere load reads, on any engine: containers, " +
      "blobs with snapshots, versions and uncommitted blocks, paths with access control lists, " +
      "queues, tables, shares, service properties, and what is soft-deleted. A server may serve " +
      "requests meanwhile. Leases, SMB locks and account keys are not part of it.",
  ],
  arguments: [],
  actions: {},
  options: {
    account: {
      kind: "name",
      value: "NAME",
      isList: true,
      help: "an account; can be repeated. Without it, all accounts",
    },
    output: {
      kind: "stream",
      short: "o",
      value: "FILE",
      isRequired: true,
      help: "the archive; - for standard output",
    },
    withKeys: {
      kind: "switch",
      help: "include the keys of accounts that etagere account created",
    },
    ...archiveOptions,
  },
  exitCodes: ["the archive is complete", "no archive was written"],
  example: "etagere export --account devstoreaccount1 --output fixture.etagere",
  run: async ({ options }) => {
    const { output, withKeys, json } = options;
    const wanted = { accounts: [...new Set(options.account)], withKeys };
    const write = (sink: ArchiveSink): Promise<ExportReport> => exportTo(sink, options, wanted);
    try {
      const report = await (output === "-"
        ? write(sinkTo(process.stdout))
        : writeArchiveFile(output, write));
      // Standard output may be the archive.
      const text = json ? JSON.stringify(report) : textOf(output, report);
      (output === "-" ? process.stderr : process.stdout).write(`${text}\n`);
      return 0;
    } catch (error) {
      return printFailure(error, "no archive was written");
    }
  },
});

interface Wanted {
  readonly accounts: readonly string[];
  readonly withKeys: boolean;
}

async function exportTo(
  sink: ArchiveSink,
  options: Parameters<typeof accessArchives>[0],
  wanted: Wanted,
): Promise<ExportReport> {
  const bar = progressBar(process.stderr, () => performance.now());
  const measured = counted(sink, bar);
  bar.begin("exporting", undefined);
  try {
    return await accessArchives(options, {
      mayCreate: false,
      onServer: (server) => fromServer(server, wanted, measured),
      onStore: (archives) => fromStore(archives, wanted, measured),
    });
  } finally {
    bar.end();
  }
}

/** Adds what is written to the progress bar. */
function counted(sink: ArchiveSink, bar: ProgressBar): ArchiveSink {
  return (bytes) => {
    bar.add(bytes.length);
    return sink(bytes);
  };
}

function fromStore(
  archives: ServerArchives,
  wanted: Wanted,
  sink: ArchiveSink,
): Promise<ExportReport> {
  return archives.export({ ...wanted, sink });
}

async function fromServer(
  server: ServerAddress,
  { accounts, withKeys }: Wanted,
  sink: ArchiveSink,
): Promise<ExportReport> {
  const query = new URLSearchParams({ accounts: accounts.join(","), withKeys: String(withKeys) });
  const response = await requestExport(server, query);
  for await (const bytes of response as AsyncIterable<Uint8Array>) await sink(bytes);
  const report = response.trailers[reportTrailer];
  if (report === undefined) throw new ArchiveRefused(["the server ended before the archive did"]);
  return JSON.parse(report) as ExportReport;
}

function textOf(output: string, { accounts, records, contentBytes, archiveBytes }: ExportReport) {
  const size = `${(archiveBytes / 1024 / 1024).toFixed(1)} MiB`;
  const what = `${accounts.join(", ")}: ${figures(records, contentBytes)}`;
  return output === "-" ? `${what} (${size})` : `${output} (${size}): ${what}`;
}
