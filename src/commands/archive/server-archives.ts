import { developmentAccountName } from "../../account/settings.ts";
import type { LoadRules } from "../../account/load-account.ts";
import type { Log, Random } from "../../base/world.ts";
import type { DataStores } from "../../data/data-stores.ts";
import { accountChangeParts } from "../../data/ensure-accounts.ts";
import { readVersion } from "../../host/version.ts";
import { exportAccounts, type ExportOptions, type ExportReport } from "./export-accounts.ts";
import { loadArchive, type LoadOptions, type LoadReport } from "./load-archive.ts";
import type { ArchiveControl, ArchiveResult } from "../../admin/admin-context.ts";
import { ArchiveRefused } from "../../host/refused.ts";

/** Exports accounts of a store and loads archives into it, for the admin API, for programs and for
 *  commands without a server. */

/** What exports and loads need of a running server, or of the stores of a stopped one. */
interface ArchiveParts {
  readonly stores: Pick<DataStores, "store" | "content">;
  readonly random: Random;
  readonly log: Log;
  readonly isConfigured: LoadRules["isConfigured"];
  /** Called after each load, which may have added accounts. */
  readonly onLoaded: () => Promise<unknown>;
}

type ExportRequest = Pick<ExportOptions, "accounts" | "withKeys" | "sink" | "onTotal">;
export type LoadRequest = Pick<LoadOptions, "as" | "replace">;

export class ServerArchives {
  readonly #parts: ArchiveParts;

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
  }

  export(request: ExportRequest): Promise<ExportReport> {
    const { store, content } = this.#parts.stores;
    return exportAccounts({ ...request, store, content, release: readVersion() });
  }

  async load(archive: AsyncIterable<Uint8Array>, request: LoadRequest): Promise<LoadReport> {
    const { stores, random, log, isConfigured, onLoaded } = this.#parts;
    const parts = accountChangeParts(stores.store, random);
    const target = { parts, content: stores.content, log, isConfigured };
    const report = await loadArchive(archive, { ...request, ...target });
    await onLoaded();
    const names = report.accounts.map(({ name }) => name);
    log.info({ accounts: names, records: report.records }, "archive loaded on request");
    return report;
  }
}

/** The archives of a store whose server is not running, so that the configuration is unknown. An
 *  account with a record but without stored keys was configured. The development account counts as
 *  configured, because a server has it unless other accounts are configured. */
export function folderArchives(
  stores: ArchiveParts["stores"],
  world: Pick<ArchiveParts, "random" | "log">,
): ServerArchives {
  const isConfigured: LoadRules["isConfigured"] = (name, existing) =>
    existing === undefined ? name === developmentAccountName : existing.stored === undefined;
  return new ServerArchives({ ...world, stores, isConfigured, onLoaded: () => Promise.resolve() });
}

/** The archives as the admin listener uses them: problems of an archive or of a request are
 *  returned, not thrown. */
export function archiveControl(archives: ServerArchives, isEncrypted: boolean): ArchiveControl {
  return {
    isEncrypted,
    export: (request) => resultOf(archives.export(request)),
    load: (archive, request) => resultOf(archives.load(archive, request)),
  };
}

async function resultOf(report: Promise<object>): Promise<ArchiveResult> {
  try {
    return { ok: true, report: await report };
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error;
    return { ok: false, problems: error.problems };
  }
}
