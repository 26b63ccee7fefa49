import type { ArchiveControl, ArchiveResult } from "../../admin/admin-context.ts";
import { ArchiveRefused } from "./archive-refused.ts";
import type { ServerArchives } from "./server-archives.ts";

/** What the admin listener uses: problems of an archive or a request are results. */
export function archiveControl(archives: ServerArchives): ArchiveControl {
  return {
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
