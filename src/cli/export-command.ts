import { encryptedHeader, reportTrailer, totalHeader } from "../admin/views/archives.ts";
import type { ExportReport } from "../commands/archive/export-accounts.ts";
import { sinkTo, writeArchiveFile, writeEncrypted } from "../commands/archive/archive-file.ts";
import { readMasterKey } from "../host/master-key.ts";
import { realEnvironment } from "../host/world.ts";
import type { Progress } from "../commands/progress.ts";
import { ArchiveRefused } from "../host/refused.ts";
import type { ArchiveSink } from "../commands/archive/archive-format.ts";
import { accessArchives, archiveOptions, requestExport } from "./archive-access.ts";
import type { ServerAddress } from "./admin-client.ts";
import { defineCommand } from "./command.ts";
import { quietLog } from "./with-stores.ts";
import { contentText, countText, sizeText, showProgress } from "./progress.ts";

/** `etagere export`: writes an archive, a file with one state of accounts that `etagere load` reads
 *  on every engine (docs/ARCHIVE.md). The archive comes from the running server, or from the stores
 *  themselves, and is encrypted here: a server sends it as plain text. */
export const exportCommand = defineCommand({
  name: "export",
  summary: "write accounts with all their data to an archive",
  description: [
    "Writes one state of accounts to a file that etagere load reads, on any engine: containers, " +
      "blobs with snapshots, versions and uncommitted blocks, paths with access control lists, " +
      "queues, tables, shares, service properties, and what is soft-deleted. A server may serve " +
      "requests meanwhile. Leases, SMB locks and account keys are not part of it.",
    "The archive of encrypted data is encrypted, too: with the master key of --archiveKey, or " +
      "with that of --encryption.",
  ],
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
    plain: {
      kind: "switch",
      excludes: ["archiveKey"],
      help: "write encrypted data to an archive in plain text",
    },
    ...archiveOptions,
  },
  exitCodes: ["the archive is complete", "no archive was written"],
  failure: "no archive was written",
  example: "etagere export --account devstoreaccount1 --output fixture.etagere",
  run: async ({ options }) => {
    const { output, withKeys, json } = options;
    const wanted = { accounts: [...new Set(options.account)], withKeys };
    const key = await archiveKeyOf(options);
    const { random } = realEnvironment(quietLog);
    const write = (target: ArchiveSink): Promise<ExportReport> =>
      showProgress({ json }, (progress) =>
        writeEncrypted(target, key.master, random, (sink) =>
          exportTo(sink, options, { ...wanted, ...key, progress }),
        ),
      );
    if (output !== "-") {
      const report = await writeArchiveFile(output, write);
      return { report, text: textOf(output, report) };
    }
    // The archive is on standard output, so the report goes to standard error.
    const report = await write(sinkTo(process.stdout));
    process.stderr.write(json ? `${JSON.stringify(report)}\n` : textOf(output, report));
    return { text: "" };
  },
});

interface ArchiveKey {
  /** Encrypts the archive; undefined: it is plain text. */
  readonly master: Uint8Array | undefined;
  /** Whether a server may send encrypted data as plain text: this command encrypts it, or the user
   *  has accepted a plain archive with `--plain`. */
  readonly mayBePlain: boolean;
}

async function archiveKeyOf(options: {
  readonly archiveKey: string | undefined;
  readonly encryption: string | undefined;
  readonly plain: boolean;
}): Promise<ArchiveKey> {
  const { archiveKey, encryption, plain } = options;
  const given = archiveKey ?? (plain ? undefined : encryption);
  const name = archiveKey === undefined ? "--encryption" : "--archiveKey";
  const master = given === undefined ? undefined : await readMasterKey(given, name);
  return { master, mayBePlain: plain || master !== undefined };
}

/** What the user wants to export, and where progress is shown. */
interface Wanted extends Pick<ArchiveKey, "mayBePlain"> {
  readonly accounts: readonly string[];
  readonly withKeys: boolean;
  readonly progress: Progress;
}

async function exportTo(
  sink: ArchiveSink,
  options: Parameters<typeof accessArchives>[0],
  wanted: Wanted,
): Promise<ExportReport> {
  const { frameProgress } = await import("../commands/archive/archive-format.ts");
  const count = frameProgress(wanted.progress);
  const measured: ArchiveSink = (bytes) => {
    count(bytes);
    return sink(bytes);
  };
  return accessArchives(options, {
    mayCreate: false,
    onServer: (server) => fromServer(server, wanted, measured),
    onStore: (archives) => {
      const onTotal = (bytes: number): void => begin(wanted.progress, bytes);
      const { accounts, withKeys } = wanted;
      return archives.export({ accounts, withKeys, sink: measured, onTotal });
    },
  });
}

const notPlain =
  "the data is encrypted: give a master key for the archive with --archiveKey file:…, env:… or " +
  "command:…, or --plain for an archive in plain text";

function begin(progress: Progress, bytes: number | undefined): void {
  progress.begin({ what: "exporting", total: { bytes } });
}

async function fromServer(
  server: ServerAddress,
  { accounts, withKeys, progress, mayBePlain }: Wanted,
  sink: ArchiveSink,
): Promise<ExportReport> {
  const query = new URLSearchParams({ accounts: accounts.join(","), withKeys: String(withKeys) });
  const response = await requestExport(server, query);
  if (response.headers[encryptedHeader] === "true" && !mayBePlain) {
    response.destroy();
    throw new ArchiveRefused([notPlain]);
  }
  const total = Number(response.headers[totalHeader]);
  begin(progress, Number.isFinite(total) ? total : undefined);
  for await (const bytes of response as AsyncIterable<Uint8Array>) await sink(bytes);
  const report = response.trailers[reportTrailer];
  if (report === undefined) throw new ArchiveRefused(["the server ended before the archive did"]);
  return JSON.parse(report) as ExportReport;
}

function textOf(output: string, { accounts, records, archiveBytes, ...contents }: ExportReport) {
  const size = sizeText(archiveBytes);
  const figures = `${countText(records)} records, ${contentText(contents)}`;
  const what = `${accounts.join(", ")}: ${figures}`;
  return output === "-" ? `${what} (${size})\n` : `${output} (${size}): ${what}\n`;
}
