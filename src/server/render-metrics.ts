import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { ticksPerSecond, unixEpochTicks, type Ticks } from "../base/ticks.ts";
import { entriesIn } from "../process/folder-listing.ts";
import type { ServerFacts } from "../admin/admin-context.ts";
import type { BucketSample, FigureSample } from "../admin/views/figures.ts";
import type { DataStores } from "../data/data-stores.ts";
import type { SubscriptionManager, SubscriptionStatus } from "../events/subscription-manager.ts";
import type { SmbAdministration } from "../smb/server.ts";
import { requestLabels } from "./metrics.ts";

/** A metric of `/metrics`: its name, type and help text, and its value, or a line for each value
 *  with its labels. */
type Metric = readonly [
  name: string,
  type: "counter" | "gauge" | "histogram",
  help: string,
  value: number | readonly string[],
];

/** Renders metrics in the text format 0.0.4 of Prometheus, which `/metrics` returns. */
function textOf(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(([name, type, help, value]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...(typeof value === "number" ? [`${name} ${value}`] : value),
  ]);
  return [...lines, ""].join("\n");
}

/** The counters of all processes of a server, and their CPU time and memory. */
export function renderMetrics(sample: FigureSample): string {
  const { requests, latencies, batches, scrub, workers } = sample;
  const counts = requests.map((each) => {
    return `etagere_requests_total{${requestLabels(each)}} ${each.count}`;
  });
  const durations = [...latencies].flatMap(([service, latency]) =>
    renderBuckets("etagere_request_seconds", `service="${service}"`, latency),
  );
  const batchSizes = renderBuckets("etagere_store_batch_size", "", batches);
  const contentBytes = [
    `etagere_content_bytes_total{direction="received"} ${sample.receivedBytes}`,
    `etagere_content_bytes_total{direction="sent"} ${sample.sentBytes}`,
  ];
  return textOf([
    ["etagere_requests_total", "counter", "Requests answered.", counts],
    ["etagere_request_seconds", "histogram", "Time from request to last byte.", durations],
    ["etagere_store_transactions_total", "counter", "Commits.", sample.transactions],
    ["etagere_store_conflicts_total", "counter", "Failed validations.", sample.conflicts],
    ["etagere_store_batch_size", "histogram", "Transactions per commit batch.", batchSizes],
    [
      "etagere_content_bytes_total",
      "counter",
      "Bytes into and out of content storage.",
      contentBytes,
    ],
    ["etagere_scrub_bytes_total", "counter", "Bytes verified.", scrub?.bytes ?? 0],
    ["etagere_scrub_problems_total", "counter", "Damaged.", scrub?.problems ?? 0],
    ...auditMetrics(sample.auditLostLines),
    ...spanMetrics(sample.lostSpans),
    ["process_cpu_seconds_total", "counter", "CPU time.", sample.cpuSeconds],
    ["process_resident_memory_bytes", "gauge", "Memory.", sample.residentBytes],
    ["etagere_heap_used_bytes", "gauge", "Heap in use.", sample.heapUsedBytes],
    ...workerMetrics(workers),
  ]);
}

function auditMetrics(lost: FigureSample["auditLostLines"]): readonly Metric[] {
  if (lost === undefined) return [];
  const name = "etagere_audit_lost_lines_total";
  const counts = Object.entries(lost).map(
    ([target, count]) => `${name}{target="${target}"} ${count}`,
  );
  return [[name, "counter", "Audit lines that were dropped.", counts]];
}

function spanMetrics(lost: FigureSample["lostSpans"]): readonly Metric[] {
  if (lost === undefined) return [];
  return [["etagere_lost_spans_total", "counter", "Spans that could not be exported.", lost]];
}

function workerMetrics(workers: FigureSample["workers"]): readonly Metric[] {
  if (workers === undefined) return [];
  const { processes, restarts } = workers;
  const perWorker = (name: string, field: "requests" | "residentBytes"): readonly string[] =>
    processes.map((each) => `${name}{pid="${each.pid}"} ${each[field]}`);
  const [requests, memory] = [
    "etagere_worker_requests_total",
    "etagere_worker_resident_memory_bytes",
  ];
  return [
    ["etagere_workers", "gauge", "Worker processes.", processes.length],
    ["etagere_worker_restarts_total", "counter", "Failed workers replaced.", restarts],
    [requests, "counter", "Requests answered by a worker.", perWorker(requests, "requests")],
    [memory, "gauge", "Memory of a worker.", perWorker(memory, "residentBytes")],
  ];
}

const eventResults = ["delivered", "failed", "deadLettered", "dropped", "missed"] as const;

/** The figures of all event subscriptions together: the metrics contain no names. None without
 *  subscriptions. */
export async function renderEventMetrics(manager: SubscriptionManager): Promise<string> {
  const found = await manager.list(() => true);
  if (found.length === 0) return "";
  const sum = (of: (each: SubscriptionStatus) => number | undefined): number =>
    found.reduce((total, each) => total + (of(each) ?? 0), 0);
  const counts = eventResults.map((result) => {
    return `etagere_events_total{result="${result}"} ${sum(({ state }) => state?.[result])}`;
  });
  const backlog = sum((each) => each.backlog);
  const retries = sum(({ state }) => state?.retries);
  return textOf([
    ["etagere_events_total", "counter", "Events by result; failed: attempts.", counts],
    ["etagere_events_backlog", "gauge", "Events after the positions.", backlog],
    ["etagere_events_retries", "gauge", "Events that wait for a retry.", retries],
  ]);
}

/** The lines of a histogram in the form of Prometheus: each bucket counts all observations up to
 *  its bound, also those of lower buckets. */
function renderBuckets(name: string, labels: string, sample: BucketSample): readonly string[] {
  const prefix = labels === "" ? "" : `${labels},`;
  const suffix = labels === "" ? "" : `{${labels}}`;
  let cumulative = 0;
  const buckets = sample.bounds.map((bound, index) => {
    cumulative += sample.counts[index] ?? 0;
    return `${name}_bucket{${prefix}le="${bound}"} ${cumulative}`;
  });
  return [
    ...buckets,
    `${name}_bucket{${prefix}le="+Inf"} ${sample.count}`,
    `${name}_sum${suffix} ${sample.sum}`,
    `${name}_count${suffix} ${sample.count}`,
  ];
}

interface StateSources {
  readonly facts: Pick<ServerFacts, "version" | "store" | "content">;
  readonly stores: Pick<DataStores, "owners" | "isLeader" | "store">;
  /** Undefined if this server does not serve SMB. */
  readonly smb: SmbAdministration | undefined;
  /** The data folder; undefined in memory. */
  readonly location: string | undefined;
  /** When the certificate expires; undefined without one. */
  readonly certificateEnd: Ticks | undefined;
}

/** The metrics that are not counters but the state of a server when they are read. Their cost does
 *  not grow with what is stored. */
export async function renderStateMetrics(sources: StateSources): Promise<string> {
  const { facts, stores, smb, location, certificateEnd: end } = sources;
  const { version, store, content } = facts;
  const labels = `version="${version}",store="${store}",content="${content}"`;
  const build = [`etagere_build_info{${labels}} 1`];
  return textOf([
    ["etagere_build_info", "gauge", "Version and kinds of storage.", build],
    ...(await processMetrics(stores)),
    ...(smb === undefined ? [] : smbMetrics(smb)),
    ...(location === undefined ? [] : await folderMetrics(location)),
    ...(end === undefined ? [] : certificateMetrics(end)),
  ]);
}

function certificateMetrics(end: Ticks): readonly Metric[] {
  const name = "etagere_certificate_expiry_timestamp_seconds";
  const seconds = Number((end - unixEpochTicks) / ticksPerSecond);
  return [[name, "gauge", "When the certificate expires, in Unix time.", seconds]];
}

/** Returns no metrics while the records cannot be reached or written: the absent series shows the
 *  failure. */
async function processMetrics(stores: StateSources["stores"]): Promise<readonly Metric[]> {
  const { owners, isLeader, store } = stores;
  const writable = async (): Promise<void> => store.checkWritable?.();
  const checked = Promise.all([owners(), isLeader(), writable()]);
  const states = await checked.catch(() => undefined);
  if (states === undefined) return [];
  const [running, leads] = states;
  const leader = leads ? 1 : 0;
  return [
    ["etagere_processes", "gauge", "Processes on the same storage.", running.size],
    ["etagere_leader", "gauge", "1 if this process runs the background tasks.", leader],
  ];
}

function smbMetrics(smb: SmbAdministration): readonly Metric[] {
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

async function folderMetrics(location: string): Promise<readonly Metric[]> {
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
  const entries = await entriesIn(folder).catch(() => []);
  const states = await Promise.all(
    entries.slice(0, filesMax).map(({ name }) => stat(join(folder, name)).catch(() => undefined)),
  );
  // The blocks that are allocated: a file of LMDB is as long as it may become.
  return states.reduce((sum, state) => sum + (state?.blocks ?? 0) * bytesPerBlock, 0);
}
