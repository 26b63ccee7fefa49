import { formatIso } from "../base/dates.ts";
import { endWithin, type Clock, type Log } from "../base/world.ts";

/** Another machine that gets the lines of the audit log, the record of who did what
 *  (`--auditSyslog`, `--auditWebhook`). */
export interface AuditTarget {
  /** The target in messages and in the metric of lost lines. */
  readonly name: AuditTargetName;
  /** Resolves when the target has taken the lines. Rejects if it is not known to have them. */
  send(lines: readonly string[]): Promise<void>;
  close(): void;
}

type AuditTargetName = "syslog" | "webhook";

/** Limit of the UTF-16 code units of lines that wait for the target. Beyond it, lines are
 *  dropped. */
const queuedUnitsMax = 4 * 1024 * 1024;
const batchLinesMax = 500;
const pauseMillisecondsFirst = 250;
const pauseMillisecondsMax = 30_000;
const closeMillisecondsMax = 5000;

interface AuditDeliveryOptions {
  readonly target: AuditTarget;
  readonly clock: Clock;
  readonly log: Log;
}

/** The line of the audit log that says how many lines are missing before it. */
export function droppedNotice(clock: Pick<Clock, "wall">, lines: number): string {
  return JSON.stringify({ time: formatIso(clock.wall()), event: "dropped", lines });
}

/** Sends lines to a target in the background, in order, and again until it has taken them. A target
 *  that is down never delays a request: lines beyond the queue are dropped and counted, and the
 *  next line that is sent says how many. */
export class AuditDelivery {
  readonly #options: AuditDeliveryOptions;
  #queue: string[] = [];
  #queuedUnits = 0;
  #lostLines = 0;
  /** Number of lost lines that no audit line has reported yet. */
  #unreported = 0;
  #isFailing = false;
  #running: Promise<void> | undefined;
  #wake = (): void => {};
  #isClosing = false;

  constructor(options: AuditDeliveryOptions) {
    this.#options = options;
  }

  get name(): AuditTargetName {
    return this.#options.target.name;
  }

  /** Number of lines that were dropped since the start. */
  get lostLines(): number {
    return this.#lostLines;
  }

  append(line: string): void {
    if (this.#queuedUnits + line.length > queuedUnitsMax) return this.#lose(1);
    this.#queue.push(line);
    this.#queuedUnits += line.length;
    this.#running ??= this.#run();
  }

  /** Sends what is left, for at most 5 s; the rest is lost. */
  async close(): Promise<void> {
    const { clock, target, log } = this.#options;
    this.#isClosing = true;
    this.#wake();
    await endWithin(clock, closeMillisecondsMax, this.#running);
    this.#lose(this.#queue.length);
    this.#queue = [];
    target.close();
    if (this.#lostLines > 0) {
      log.error({ target: this.name, lines: this.#lostLines }, "audit lines were lost");
    }
  }

  async #run(): Promise<void> {
    const { clock, target } = this.#options;
    let pause = pauseMillisecondsFirst;
    let isLast = false;
    // The lines of one event-loop iteration are sent together.
    await new Promise<void>((resolve) => clock.nextIteration(resolve));
    while (this.#queue.length > 0) {
      const lines = this.#queue.slice(0, batchLinesMax);
      const unreported = this.#unreported;
      const notice = unreported === 0 ? [] : [droppedNotice(clock, unreported)];
      try {
        await target.send([...notice, ...lines]);
        this.#sent(lines, unreported);
        pause = pauseMillisecondsFirst;
      } catch (error) {
        this.#failed(error);
        // One more attempt is made after `close` was called.
        if (isLast) break;
        isLast = this.#isClosing;
        if (!isLast) await this.#sleep(pause);
        pause = Math.min(2 * pause, pauseMillisecondsMax);
      }
    }
    this.#running = undefined;
  }

  #sent(lines: readonly string[], reported: number): void {
    this.#queue.splice(0, lines.length);
    for (const line of lines) this.#queuedUnits -= line.length;
    this.#unreported -= reported;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    const fields = { target: this.name, lost: this.#lostLines };
    this.#options.log.info(fields, "audit target accepts lines again");
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) {
      const fields = { err: error, target: this.name };
      this.#options.log.error(fields, "audit target unreachable; lines wait, then are dropped");
    }
    this.#isFailing = true;
  }

  #lose(lines: number): void {
    if (lines === 0) return;
    this.#lostLines += lines;
    this.#unreported += lines;
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(milliseconds, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
