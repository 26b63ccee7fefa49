import { openS3Files } from "../../../src/content/s3/open-s3-files.ts";
import { roleAmong, type Close, type StorageBackend } from "../../../src/data/storage-backends.ts";
import type { RunningServer } from "../../../src/server/running-server.ts";
import { hasNoNodes, openNodes } from "../../../src/store/nodes.ts";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import type { EventName } from "../plan.ts";
import { openServer, type Site, type SiteOptions, type StoredData } from "../site.ts";
import { microsecondsPerSecond, SimProcess, type MachineTime } from "../sim-process.ts";
import { SimBucket } from "./sim-bucket.ts";
import { SimDatabase } from "./sim-database.ts";
import { simConnections } from "./sim-pool.ts";
import { viewOf } from "./tables.ts";

/** A node, and until when it is cut off. */
interface Node {
  readonly process: SimProcess;
  time: MachineTime;
  withoutDatabaseUntil: number;
  withoutBucketUntil: number;
}

const schema = "etagere";
const storeUrl = "postgres://simulated/database";
const bucketUrl = "s3://simulated?endpoint=http://127.0.0.1:9000&cache=1";
const credentials = { accessKeyId: "simulated", secretAccessKey: "simulated" };
const nodeIdBytes = 12;
const outageMicrosecondsMax = 12 * microsecondsPerSecond;
/** Longer than the time without a heartbeat after which a node is fenced. */
const partitionSeconds = [0.3, 4, 20, 45] as const;
/** By how much the clock of the database's host is ahead after a jump or a failover. */
const databaseClockSeconds = [0, 0, -86_400, -7, 3, 600, 864_000] as const;
const bootedSecondsMax = 100_000;

/** Server nodes of equal rank, each on a machine of its own, on one database and one bucket. */
export class Nodes implements Site {
  /** In the longest one the others fence the node, and remove what it has left. */
  readonly pauseSeconds = [0.1, 3, 40, 90];
  readonly #options: SiteOptions;
  readonly #database: SimDatabase;
  readonly #bucket: SimBucket;
  readonly #nodes = new Map<number, Node>();
  #pids = 100;

  constructor(options: SiteOptions) {
    this.#options = options;
    const { diskMicroseconds, bucketMicroseconds } = options.latencies;
    this.#database = new SimDatabase({
      ...options,
      statementMicroseconds: [20, 300],
      flushMicroseconds: diskMicroseconds,
    });
    this.#bucket = new SimBucket({ ...options, bucketMicroseconds });
  }

  newProcess(): SimProcess {
    const { scheduler, random, write } = this.#options;
    this.#pids += 1;
    const pid = this.#pids;
    const seconds = scheduler.random.below(bootedSecondsMax);
    const time = {
      bootId: `boot-${pid}`,
      bootedAt: scheduler.now - seconds * microsecondsPerSecond,
      wallOffsetMicroseconds: 0,
    };
    const timeOf = (): MachineTime => node?.time ?? time;
    let node: Node | undefined;
    const process = new SimProcess({ scheduler, pid, time: timeOf, random, write });
    node = { process, time, withoutDatabaseUntil: 0, withoutBucketUntil: 0 };
    this.#nodes.set(pid, node);
    process.onKill(() => this.#nodes.delete(pid));
    return process;
  }

  serve(process: SimProcess): Promise<RunningServer> {
    const node = this.#nodes.get(process.pid);
    if (node === undefined) throw new Error("the process has ended");
    const { connect } = this.#options;
    return openServer(process, (opened) => this.#openStorage(node, opened), connect);
  }

  happen(name: EventName): void {
    const { random } = this.#options.scheduler;
    const nodes = [...this.#nodes.values()];
    switch (name) {
      case "clock jump":
        if (nodes.length === 0) return;
        jump(random.pick(nodes), random.pick([-43_200, -30, 20, 3_600]));
        return this.#changeDatabaseClock();
      case "partition":
        if (nodes.length === 0) return;
        return this.#cutOff(random.pick(nodes));
      case "failover":
        return this.#failOver();
      case "slow database":
        this.#database.slowness = random.pick([1, 10, 200, 3_000]);
        return this.#later(() => (this.#database.slowness = 1));
      case "bucket outage":
        this.#bucket.isDown = true;
        return this.#later(() => (this.#bucket.isDown = false));
      default:
        throw new Error(`nodes have no event ${name}`);
    }
  }

  losePower(): void {
    this.#failOver();
  }

  heal(): void {
    this.#database.isUp = true;
    this.#database.slowness = 1;
    this.#bucket.isDown = false;
    for (const node of this.#nodes.values()) {
      jump(node, 0);
      Object.assign(node, { withoutDatabaseUntil: 0, withoutBucketUntil: 0 });
    }
  }

  async stored(): Promise<StoredData> {
    const files = await this.#files(undefined);
    const extents: bigint[] = [];
    for (let page = await files.list!(-1n); page.length > 0; page = await files.list!(page.at(-1)!))
      extents.push(...page);
    return { state: viewOf(this.#database.tablesOf(schema)), files, extents };
  }

  rot(extent: bigint, position: number, bit: number): void {
    this.#bucket.rot(extent, position, bit);
  }

  #cutOff(node: Node): void {
    const { scheduler } = this.#options;
    const { random } = scheduler;
    const until = scheduler.now + random.pick(partitionSeconds) * microsecondsPerSecond;
    const kind = random.below(3);
    if (kind !== 1) node.withoutDatabaseUntil = until;
    if (kind !== 0) node.withoutBucketUntil = until;
  }

  #failOver(): void {
    this.#database.failOver();
    this.#changeDatabaseClock();
    this.#database.isUp = false;
    this.#later(() => (this.#database.isUp = true));
  }

  /** Only while some node runs that knows the time from before. */
  #changeDatabaseClock(): void {
    const { scheduler, keepsNodes } = this.#options;
    if (keepsNodes) this.#database.clockSeconds = scheduler.random.pick(databaseClockSeconds);
  }

  #later(run: () => void): void {
    const { scheduler } = this.#options;
    scheduler.schedule(scheduler.between(1, outageMicrosecondsMax), run);
  }

  /** The same parts as `data/storage-backends.ts` opens. */
  async #openStorage(node: Node, opened: Close[]): Promise<StorageBackend> {
    const { clock, log, random } = node.process;
    const { networkMicroseconds } = this.#options.latencies;
    const connect = simConnections({
      ...this.#options,
      database: this.#database,
      process: node.process,
      networkMicroseconds,
      blockedUntil: () => node.withoutDatabaseUntil,
    });
    const id = Buffer.from(random.bytes(nodeIdBytes)).toString("hex");
    const common = { url: storeUrl, node: id, clock, log, connect };
    const store = await openPostgresStore(common);
    opened.push(() => store.close());
    const ephemeral = await openPostgresStore({ ...common, ephemeral: true });
    opened.push(() => ephemeral.close());
    const isAlone = await hasNoNodes(ephemeral);
    await Promise.all([store, ephemeral].map((each) => each.keepTime(isAlone)));
    const fence = (other: string): Promise<void> => store.fence(other);
    const assertNotFenced = (): Promise<void> => store.assertNotFenced();
    const self = { self: id, clock, log };
    const processes = await openNodes({ store: ephemeral, ...self, fence, assertNotFenced });
    opened.push(() => processes.close());
    const files = await this.#files(node);
    return { store, files, ...roleAmong(processes, ephemeral) };
  }

  #files(node: Node | undefined) {
    const blockedUntil = (): number => node?.withoutBucketUntil ?? 0;
    const transport = this.#bucket.transportOf(node?.process, blockedUntil);
    const clock = node?.process.clock ?? this.newProcess().clock;
    return openS3Files({ location: bucketUrl, credentials, clock, transport });
  }
}

function jump(node: Node, seconds: number): void {
  node.time = { ...node.time, wallOffsetMicroseconds: seconds * microsecondsPerSecond };
}
