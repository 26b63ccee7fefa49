/** Metrics of the state of a server when they are read; those of `metrics.ts` count events. */
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ServerFacts } from "../admin/admin-context.ts";
import type { DataStores } from "../data/data-stores.ts";
import type { SmbAdministration } from "../smb/administration.ts";

interface StateSources {
  readonly facts: Pick<ServerFacts, "version" | "store" | "content">;
  readonly stores: Pick<DataStores, "owners" | "isLeader">;
  /** Undefined if this server does not serve SMB. */
  readonly smb: SmbAdministration | undefined;
  /** The data folder; undefined in memory. */
  readonly location: string | undefined;
}

type Sample = readonly [name: string, type: "gauge" | "counter", help: string, value: number];

/** Prometheus text. Its cost does not grow with the stored data. */
export async function renderStateMetrics(sources: StateSources): Promise<string> {
  const { facts, stores, smb, location } = sources;
  const { version, store, content } = facts;
  const labels = `version="${version}",store="${store}",content="${content}"`;
  const samples = [
    ...(await processSamples(stores)),
    ...(smb === undefined ? [] : smbSamples(smb)),
    ...(location === undefined ? [] : await folderSamples(location)),
  ];
  return [
    "# HELP etagere_build_info Version and kinds of storage.",
    "# TYPE etagere_build_info gauge",
    `etagere_build_info{${labels}} 1`,
    ...samples.flatMap(([name, type, help, value]) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      `${name} ${value}`,
    ]),
    "",
  ].join("\n");
}

/** None while the storage cannot be reached: an absent series is the sign of it. */
async function processSamples({
  owners,
  isLeader,
}: StateSources["stores"]): Promise<readonly Sample[]> {
  const states = await Promise.all([owners(), isLeader()]).catch(() => undefined);
  if (states === undefined) return [];
  const [running, leads] = states;
  const leader = leads ? 1 : 0;
  return [
    ["etagere_processes", "gauge", "Processes on the same storage.", running.size],
    ["etagere_leader", "gauge", "1 if this process runs the background tasks.", leader],
  ];
}

function smbSamples(smb: SmbAdministration): readonly Sample[] {
  const sessions = smb.sessions();
  const opens = sessions.reduce((sum, { openCount }) => sum + openCount, 0);
  const { waits, breaks } = smb.counts();
  return [
    ["etagere_smb_sessions", "gauge", "SMB sessions.", sessions.length],
    ["etagere_smb_opens", "gauge", "Open handles of SMB clients.", opens],
    ["etagere_smb_waiting", "gauge", "SMB requests that wait.", smb.waits().length],
    ["etagere_smb_waits_total", "counter", "Waits for locks and breaks.", waits],
    ["etagere_smb_breaks_total", "counter", "Break notifications sent.", breaks],
  ];
}

const filesMax = 1000;

async function folderSamples(location: string): Promise<readonly Sample[]> {
  const disk = await statfs(location).catch(() => undefined);
  if (disk === undefined) return [];
  const { bsize, bavail, blocks } = disk;
  const store = await storeBytes(join(location, "store"));
  return [
    ["etagere_disk_free_bytes", "gauge", "Free on the disk of the data folder.", bavail * bsize],
    ["etagere_disk_size_bytes", "gauge", "Size of the disk of the data folder.", blocks * bsize],
    ["etagere_store_bytes", "gauge", "Disk space of the records.", store],
  ];
}

const bytesPerBlock = 512;

async function storeBytes(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const states = await Promise.all(
    names.slice(0, filesMax).map((name) => stat(join(folder, name)).catch(() => undefined)),
  );
  // The files are sparse.
  return states.reduce((sum, state) => sum + (state?.blocks ?? 0) * bytesPerBlock, 0);
}
