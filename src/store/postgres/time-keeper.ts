import type { Pool } from "pg";
import type { Clock, Log } from "../../base/world.ts";
import { ticksPerMillisecond, ticksPerSecond } from "../../base/ticks.ts";
import { storeTicks, databaseTicks, type DatabaseTime } from "./database-time.ts";

/** Keeps the time of a store steady when the clock of its database jumps, for example by a
 *  failover. `PostgresStore` uses it; `database-time.ts` measures the clock. */

interface TimeKeeperOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly time: DatabaseTime;
  readonly log: Log;
}

/** Pause between the measurements of a node that starts: long enough for the others, which measure
 *  every second (`node-watchers.ts`), to correct a jump. */
const confirmMilliseconds = 2_000;
/** After so many measurements a node starts in any case: a clock that is corrected gradually seems
 *  to jump all the time, by little. */
const measurementsMax = 15;
/** How far the time of a commit may be ahead of every clock; more: this node is behind. */
const aheadTicksMax = ticksPerSecond;
/** If another node changes the shift within this time, it disagrees with this node's correction. */
const contradictedTicksMax = 5n * ticksPerSecond;

const measureText = `SELECT ticks, clock_shift AS shift, ${storeTicks} AS clock FROM state`;
/** Changes the shift unless another node has corrected the same jump. */
const correctText = `UPDATE state SET clock_shift = clock_shift - $1
  WHERE only_row = 1 AND clock_shift = $2`;
const resetText = `UPDATE state SET clock_shift = 0
  WHERE only_row = 1 AND clock_shift <> 0 AND ${databaseTicks} > ticks`;

interface StateRow {
  readonly ticks: string;
  readonly shift: string;
  readonly clock: string;
}

interface Measurement extends StateRow {
  readonly sentAt: bigint;
  readonly jump: bigint;
}

/** The last shift of store time that this node has stored, and when. */
interface Correction {
  readonly shift: bigint;
  readonly at: bigint;
}

/** The table `state` has the shift of store time from the database's clock, which all nodes add. A
 *  running node that notices a jump of that clock changes the shift by it.
 *
 *  If instead the clock of this node has stopped for a while, as with the virtual machine that it
 *  runs in, the other nodes undo the correction, and this node follows them. Of two nodes that
 *  disagree the one that is behind follows, so that they do not undo each other for ever. */
export class TimeKeeper {
  readonly #options: TimeKeeperOptions;
  #isCorrecting = false;
  #corrected: Correction | undefined;

  constructor(options: TimeKeeperOptions) {
    this.#options = options;
  }

  /**
   * Called at the start of a node, before its first commit. A node that is alone takes the
   * database's clock as it is. With others it waits until two measurements agree: the clock may
   * have jumped just now, and the others correct it.
   */
  async start(isAlone: boolean): Promise<void> {
    const { pool, time } = this.#options;
    if (isAlone) await pool.query(resetText);
    let jumps = -1;
    for (let count = 0; jumps !== time.jumps && count < measurementsMax; count += 1) {
      jumps = time.jumps;
      if (!isAlone) await this.#wait();
      await this.#measure();
    }
    time.keep(() => void this.#correct());
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(confirmMilliseconds, resolve));
  }

  async #measure(): Promise<Measurement> {
    const { pool, clock, time } = this.#options;
    const sentAt = clock.monotonic();
    const { rows } = await pool.query<StateRow>(measureText);
    const [row] = rows;
    if (row === undefined) throw new Error("the table state has no row");
    return { ...row, sentAt, jump: time.compare(BigInt(row.clock), sentAt) };
  }

  async #correct(): Promise<void> {
    if (this.#isCorrecting) return;
    this.#isCorrecting = true;
    const { pool, time, log } = this.#options;
    try {
      const measured = await this.#measure();
      const { shift, clock: storeTime, sentAt, jump } = measured;
      if (jump === 0n) return;
      if (jump > 0n && (this.#isBehind(measured) || this.#isContradicted(measured))) {
        time.follow(BigInt(storeTime), sentAt);
        return;
      }
      const { rowCount } = await pool.query(correctText, [String(jump), shift]);
      if (rowCount === 0) return;
      this.#corrected = { shift: BigInt(shift) - jump, at: sentAt };
      const milliseconds = Number(jump / ticksPerMillisecond);
      log.warn({ milliseconds }, "the clock of the database has jumped; store time continues");
    } catch {
      // The next measurement shows the jump again, and corrects it then.
    } finally {
      this.#isCorrecting = false;
    }
  }

  /** Store time never decreases: this node follows those that have committed with later times. */
  #isBehind({ ticks }: Measurement): boolean {
    const { clock, time } = this.#options;
    return clock.monotonic() + time.clockOffset + aheadTicksMax < BigInt(ticks);
  }

  #isContradicted({ shift, sentAt }: Measurement): boolean {
    const corrected = this.#corrected;
    if (corrected === undefined || sentAt - corrected.at > contradictedTicksMax) return false;
    return BigInt(shift) !== corrected.shift;
  }
}
