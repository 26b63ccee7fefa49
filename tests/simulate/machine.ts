import { roleAmong, type StorageBackend } from "../../src/data/storage-backends.ts";
import { restoreRules } from "../../src/data/services.ts";
import { locks } from "../../src/file/records.ts";
import type { RunningServer } from "../../src/server/running-server.ts";
import { isAheadOf, OverlayEngine, volatileRange } from "../../src/store/lmdb/overlay-engine.ts";
import { openProcesses } from "../../src/store/processes.ts";
import type { Store } from "../../src/store/store.ts";
import { setClockOffset, TransactionalStore } from "../../src/store/transactional-store.ts";
import type { Engine } from "../../src/store/engine.ts";
import { ModelEngine, StoreFile } from "./engine-file.ts";
import type { EventName } from "./plan.ts";
import { SimDisk } from "./sim-disk.ts";
import { microsecondsPerSecond, SimProcess, type MachineTime } from "./sim-process.ts";
import { openServer, type Site, type SiteOptions, type StoredData } from "./site.ts";

/** A machine with a data folder, and the server processes on it. */
export class Machine implements Site {
  readonly pauseSeconds = [0.1, 3, 40];
  readonly #disk: SimDisk;
  readonly #options: SiteOptions;
  readonly #store = new StoreFile();
  /** The files that do not outlive a boot: volatile keys, and the ephemeral store. */
  #volatile = new StoreFile();
  #ephemeral = new StoreFile();
  #time: MachineTime = { bootId: "boot-0", bootedAt: 0, wallOffsetMicroseconds: 0 };
  #boots = 0;
  /** Whether a server has taken the time of this boot from the wall clock. */
  #isTimeTaken = false;
  #pids = 100;
  readonly #processes = new Map<number, SimProcess>();

  constructor(options: SiteOptions) {
    this.#options = options;
    const { latencies } = options;
    this.#disk = new SimDisk({ ...options, diskMicroseconds: latencies.diskMicroseconds });
  }

  serve(process: SimProcess): Promise<RunningServer> {
    const { connect } = this.#options;
    return openServer(process, (opened) => this.#openStorage(process, opened), connect);
  }

  newProcess(): SimProcess {
    const { scheduler, random, write } = this.#options;
    this.#pids += 1;
    const process = new SimProcess({
      scheduler,
      pid: this.#pids,
      time: () => this.#time,
      random,
      write,
    });
    this.#processes.set(process.pid, process);
    process.onKill(() => this.#processes.delete(process.pid));
    return process;
  }

  /** Loss of power: all processes end, and what was not flushed may be lost. The next process runs
   *  after a new boot. */
  losePower(): void {
    for (const process of this.#processes.values()) process.kill();
    this.#disk.losePower();
    this.#store.losePower();
    this.#volatile = new StoreFile();
    this.#ephemeral = new StoreFile();
    this.#boots += 1;
    this.#isTimeTaken = false;
    const { now } = this.#options.scheduler;
    // Without another clock, the time after a boot is that of the wall clock.
    this.#time = { bootId: `boot-${this.#boots}`, bootedAt: now, wallOffsetMicroseconds: 0 };
  }

  happen(name: EventName): void {
    const { scheduler, conditions } = this.#options;
    const { random } = scheduler;
    switch (name) {
      case "clock jump":
        return this.#jumpWallClock(random.pick([-43_200, -30, 20, 3_600]));
      case "full disk":
        conditions.isDiskFull = true;
        scheduler.schedule(scheduler.between(1, 5 * microsecondsPerSecond), () => {
          conditions.isDiskFull = false;
        });
        return;
      case "slow disk":
        conditions.diskSlowness = random.pick([1, 10, 200]);
        return;
      default:
        throw new Error(`a machine has no event ${name}`);
    }
  }

  heal(): void {
    const { conditions } = this.#options;
    conditions.isDiskFull = false;
    conditions.diskSlowness = 1;
    this.#jumpWallClock(0);
  }

  async stored(): Promise<StoredData> {
    const state = this.#engine(this.#store, this.newProcess(), true).open();
    return { state, files: this.#disk.filesOf(undefined), extents: this.#disk.extents };
  }

  rot(extent: bigint, position: number, bit: number): void {
    this.#disk.rot(extent, position, bit);
  }

  /** The first server after a boot can only believe the wall clock, so that it is right until
   *  then. */
  #jumpWallClock(seconds: number): void {
    if (!this.#isTimeTaken) return;
    const wallOffsetMicroseconds = seconds * microsecondsPerSecond;
    this.#time = { ...this.#time, wallOffsetMicroseconds };
  }

  #engine(file: StoreFile, process: SimProcess, isFlushed: boolean): ModelEngine {
    const { diskMicroseconds } = this.#options.latencies;
    return new ModelEngine({ ...this.#options, file, process, isFlushed, diskMicroseconds });
  }

  /** The same parts as a data folder of this machine has (`data/storage-backends.ts`). */
  async #openStorage(
    process: SimProcess,
    opened: (() => Promise<void>)[],
  ): Promise<StorageBackend> {
    const isExclusive = [...this.#processes.keys()].every((pid) => pid === process.pid);
    const engine = await this.#openOverlay(process, isExclusive);
    const store = await openStore(engine, process, isExclusive);
    opened.push(() => store.close());
    const ephemeralEngine = this.#engine(this.#ephemeral, process, false);
    const ephemeral = await openStore(ephemeralEngine, process, isExclusive);
    opened.push(() => ephemeral.close());
    this.#isTimeTaken = true;
    const { pid, startTime } = process;
    const processes = await openProcesses({
      store: ephemeral,
      self: { pid, startTime },
      isAlive: (other) => this.#processes.get(other.pid)?.isAlive === true,
    });
    opened.push(() => processes.close());
    return { store, files: this.#disk.filesOf(process), ...roleAmong(processes, ephemeral) };
  }

  async #openOverlay(process: SimProcess, isExclusive: boolean): Promise<Engine> {
    const durable = this.#engine(this.#store, process, true);
    if (isExclusive && isAheadOf(this.#engine(this.#volatile, process, false), durable)) {
      this.#volatile = new StoreFile();
    }
    const volatile = this.#engine(this.#volatile, process, false);
    const engine = new OverlayEngine(durable, volatile, volatileRange(locks.prefix([])));
    if (isExclusive) await engine.reconcileAll();
    return engine;
  }
}

async function openStore(
  engine: Engine,
  { clock, log, pid }: SimProcess,
  isExclusive: boolean,
): Promise<Store> {
  await setClockOffset(engine, clock, isExclusive);
  return new TransactionalStore({ engine, clock, log, owner: pid, restoreRules });
}
