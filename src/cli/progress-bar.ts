import type { Progress } from "../commands/copy-data.ts";

interface Terminal {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

export interface ProgressBar extends Progress {
  end(): void;
}

const barWidth = 30;
const drawMilliseconds = 100;

/** Shows progress: on a terminal in one line that is redrawn, otherwise in one line per step. */
export function progressBar(terminal: Terminal, now: () => number): ProgressBar {
  let step: Step & { done: number; began: number } = { what: "", total: 0, done: 0, began: 0 };
  let drawnAt = 0;
  const isLive = terminal.isTTY === true;
  const draw = (): void => {
    drawnAt = now();
    terminal.write(`\r\x1b[K${lineOf(step, now() - step.began)}`);
  };
  const finish = (): void => {
    if (step.what === "") return;
    if (isLive) draw();
    terminal.write(isLive ? "\n" : `${lineOf(step, now() - step.began)}\n`);
    step = { ...step, what: "" };
  };
  return {
    begin(what, total) {
      finish();
      step = { what, total, done: 0, began: now() };
      if (isLive) draw();
    },
    add(count) {
      step.done += count;
      if (isLive && now() - drawnAt >= drawMilliseconds) draw();
    },
    end: finish,
  };
}

interface Step {
  readonly what: string;
  /** In bytes; undefined if the total is not known in advance. */
  readonly total: number | undefined;
  readonly done: number;
}

function lineOf({ what, total, done }: Step, milliseconds: number): string {
  const name = what.padEnd(18);
  if (what.endsWith("records")) return `${name} ${done.toLocaleString("en")}`;
  const perSecond = milliseconds === 0 ? 0 : (1000 * done) / milliseconds;
  if (total === undefined) return `${name} ${megabytes(done)}, ${megabytes(perSecond)}/s`;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const full = Math.floor(share * barWidth);
  const bar = `${"█".repeat(full)}${"░".repeat(barWidth - full)}`;
  const percent = `${Math.floor(100 * share)}%`.padStart(4);
  const figures = `${megabytes(done)} of ${megabytes(total)}, ${megabytes(perSecond)}/s`;
  return `${name} ${bar} ${percent}  ${figures}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
