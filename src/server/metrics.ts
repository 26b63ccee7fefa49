import type { BucketSample, FigureSample, RequestCount } from "../admin/views/figures.ts";
import type { Meter, RequestDone } from "../protocol/meter.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { ProcessFigures } from "../host/process.ts";
import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ServerFacts } from "../admin/admin-context.ts";
import type { DataStores } from "../data/data-stores.ts";
import type { SmbAdministration } from "../smb/administration.ts";

/** The counters of this process, and their output. */
export interface Metrics extends Meter {
  sample(process: ProcessFigures): FigureSample;
}

/** Upper bounds; the unbounded last bucket equals the total count. */
const latencySecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30,
];
const batchSizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Labels come from the operation declarations, so there are always fewer series; the limit bounds
 *  memory in case of a bug. */
const seriesMax = 5000;

export function newMetrics(): Metrics {
  const requests = new Map<string, Mutable<RequestCount>>();
  const latencies = new Map<ServiceName, Histogram>();
  const batches = new Histogram(batchSizeBounds);
  const bytes = { received: 0, sent: 0 };
  const scrub = { bytes: 0, problems: 0 };
  let transactions = 0;
  let conflicts = 0;
  return {
    request(done) {
      const labels = requestLabels(done);
      const series = requests.get(labels);
      if (series !== undefined) addTo(series, done.seconds);
      else if (requests.size < seriesMax) requests.set(labels, newSeries(done));
      let latency = latencies.get(done.service);
      if (latency === undefined) {
        latency = new Histogram(latencySecondsBounds);
        latencies.set(done.service, latency);
      }
      latency.observe(done.seconds);
    },
    commit(batch) {
      batches.observe(batch.transactions);
      transactions += batch.transactions;
      conflicts += batch.conflicts;
    },
    contentBytes(direction, count) {
      bytes[direction] += count;
    },
    scrubbed(count, problems) {
      scrub.bytes += count;
      scrub.problems += problems;
    },
    sample: (figures) => ({
      requests: [...requests.values()].map((series) => ({ ...series })),
      latencies: new Map([...latencies].map(([service, each]) => [service, each.sample()])),
      transactions,
      conflicts,
      batches: batches.sample(),
      receivedBytes: bytes.received,
      sentBytes: bytes.sent,
      scrub: { ...scrub },
      ...figures,
    }),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function newSeries({ service, operation, status, seconds }: RequestDone): Mutable<RequestCount> {
  return { service, operation, status, count: 1, seconds, secondsMax: seconds };
}

function addTo(series: Mutable<RequestCount>, seconds: number): void {
  series.count += 1;
  series.seconds += seconds;
  if (seconds > series.secondsMax) series.secondsMax = seconds;
}

function requestLabels({ service, operation, status }: RequestDone): string {
  return `service="${service}",operation="${operation}",status="${status}"`;
}

/** Counts observations per bucket; a bucket includes its upper bound. */
class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    if (bucket < bounds.length) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  sample(): BucketSample {
    const counts = [...this.#counts];
    return { bounds: this.#bounds, counts, count: this.#count, sum: this.#sum };
  }
}

/** Renders cumulative buckets: each counts all observations up to its bound. */
export function renderBuckets(name: string, labels: string, sample: BucketSample) {
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

/** Metrics of the state of a server when they are read; those of `newMetrics` count events. */
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
