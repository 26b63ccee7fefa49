import type { Progress, ProgressStep, ContentFigures } from "../commands/progress.ts";

/** Shows how far a command is, on standard error, and formats numbers and sizes for reports. */

/** Standard error, or its substitute in tests. */
interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

interface DisplayOptions {
  readonly output: Output;
  /** Returns the present time in milliseconds. */
  readonly now: () => number;
  /** Whether each line is a JSON object, for programs that read it. */
  readonly json: boolean;
}

interface ProgressDisplay extends Progress {
  end(): void;
}

interface Running extends ProgressStep {
  readonly beganAt: number;
  readonly done: { items: number; bytes: number };
}

const columnsDefault = 80;
const barWidthMax = 30;
const nameWidth = 18;
/** Times between two displays: on a terminal, as JSON, and as plain lines. */
const drawMilliseconds = 100;
const jsonMilliseconds = 1000;
const lineMilliseconds = 10_000;
/** In the share that is done, an item (mostly a record) counts as this many bytes: storing a small
 *  record takes about as long as reading so much content. */
const bytesPerItem = 1024;
/** The remaining time is shown after this time and from this share on: before, it is a guess. */
const estimateMilliseconds = 1000;
const estimateShareMin = 0.01;

/** Shows the progress of a command on standard error until its work ends. */
export async function showProgress<T>(
  { json }: { readonly json: boolean },
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const now = (): number => performance.now();
  const display = progressDisplay({ output: process.stderr, now, json });
  try {
    return await work(display);
  } finally {
    display.end();
  }
}

/** Shows progress: on a terminal in one line that is redrawn; otherwise in a line at the end of
 *  each step, and every 10 s in between; as JSON once a second. */
export function progressDisplay({ output, now, json }: DisplayOptions): ProgressDisplay {
  const isLive = output.isTTY === true && !json;
  const interval = isLive ? drawMilliseconds : json ? jsonMilliseconds : lineMilliseconds;
  let step: Running | undefined;
  let shownAt = 0;
  const show = (shown: Running): void => {
    shownAt = now();
    const measured = measure(shown, shownAt - shown.beganAt);
    if (isLive)
      output.write(`\r\x1b[K${terminalLine(measured, columnsOf(output, columnsDefault))}`);
    else output.write(`${json ? jsonLine(measured) : plainLine(measured)}\n`);
  };
  const end = (): void => {
    if (step === undefined) return;
    show(step);
    if (isLive) output.write("\n");
    step = undefined;
  };
  return {
    begin(next) {
      end();
      step = { ...next, beganAt: now(), done: { items: 0, bytes: 0 } };
      shownAt = now();
      if (isLive) show(step);
    },
    add({ items = 0, bytes = 0 }) {
      if (step === undefined) return;
      step.done.items += items;
      step.done.bytes += bytes;
      if (now() - shownAt >= interval) show(step);
    },
    end,
  };
}

interface Measured extends Running {
  readonly seconds: number;
  /** From 0 to 1; undefined if no total is known. */
  readonly share: number | undefined;
  /** Undefined while the remaining time would be a guess. */
  readonly secondsLeft: number | undefined;
}

function measure(step: Running, milliseconds: number): Measured {
  const share = shareOf(step);
  const isEstimable =
    share !== undefined && share >= estimateShareMin && milliseconds >= estimateMilliseconds;
  const secondsLeft = isEstimable ? (milliseconds * (1 - share)) / share / 1000 : undefined;
  return { ...step, seconds: milliseconds / 1000, share, secondsLeft };
}

/** The done part of a step, from 0 to 1. Items and bytes count only if the total is known. */
function shareOf({ done, total }: Running): number | undefined {
  if (total.items === undefined && total.bytes === undefined) return undefined;
  const all = (total.bytes ?? 0) + bytesPerItem * (total.items ?? 0);
  const ofBytes = total.bytes === undefined ? 0 : done.bytes;
  const ofItems = total.items === undefined ? 0 : bytesPerItem * done.items;
  return all === 0 ? 1 : Math.min(1, (ofBytes + ofItems) / all);
}

/** The line for a terminal. Its bar becomes shorter, and its end is cut, where the terminal is
 *  narrow; a line that is as wide as the terminal would begin a second one. */
function terminalLine(measured: Measured, columns: number): string {
  const { what, share } = measured;
  const name = what.padEnd(nameWidth);
  const rest = figuresOf(measured);
  if (share === undefined) return `${name} ${rest}`.slice(0, columns - 1);
  const percent = percentOf(share).padStart(4);
  const free = columns - 1 - name.length - percent.length - rest.length - 4;
  const width = Math.max(0, Math.min(barWidthMax, free));
  const full = Math.floor(share * width);
  const bar = width === 0 ? "" : `${"█".repeat(full)}${"░".repeat(width - full)} `;
  return `${name} ${bar}${percent}  ${rest}`.slice(0, columns - 1);
}

function plainLine(measured: Measured): string {
  const { what, share } = measured;
  const percent = share === undefined ? "" : `${percentOf(share)}, `;
  return `${what}: ${percent}${figuresOf(measured)}`;
}

function percentOf(share: number): string {
  return `${Math.floor(100 * share)}%`;
}

function jsonLine({ what, total, done, share, seconds, secondsLeft }: Measured): string {
  return JSON.stringify({ progress: { step: what, done, total, share, seconds, secondsLeft } });
}

/** The figures after the name of a step: "1,234 of 5,002 records, 1.2 MiB of 3.4 MiB, 0.4 MiB/s, 5
 *  s left". */
function figuresOf({ itemName = "records", done, total, seconds, ...rest }: Measured): string {
  const isNothing = total.bytes === undefined && done.bytes === 0;
  const hasItems = total.items !== undefined || done.items > 0 || isNothing;
  const hasBytes = !hasItems || Math.max(total.bytes ?? 0, done.bytes) > 0;
  const perSecond = (count: number): number => (seconds === 0 ? 0 : count / seconds);
  const parts = [
    hasItems ? `${outOf(done.items, total.items, countText)} ${itemName}` : "",
    hasBytes ? outOf(done.bytes, total.bytes, sizeText) : "",
    hasBytes ? `${sizeText(perSecond(done.bytes))}/s` : `${countText(perSecond(done.items))}/s`,
    rest.secondsLeft === undefined || rest.share === 1 ? "" : `${timeText(rest.secondsLeft)} left`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function outOf(done: number, total: number | undefined, text: (count: number) => string): string {
  return total === undefined ? text(done) : `${text(done)} of ${text(total)}`;
}

/** Formats a remaining time: "45 s", "3 min 20 s", "2 h 5 min". */
function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const byteUnits = ["KiB", "MiB", "GiB", "TiB", "PiB"] as const;

interface Terminal {
  readonly columns?: number | undefined;
}

/** The width of a terminal, or `otherwise` if it does not report one. Some report 0: a serial line,
 *  or a pseudo terminal without a window. */
export function columnsOf({ columns }: Terminal, otherwise: number): number {
  return columns === undefined || columns <= 0 ? otherwise : columns;
}

/** Formats a number of bytes for reports: "512 bytes", "2.4 MiB". */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} bytes`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${byteUnits[unit]}`;
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString("en");
}

/** Formats what a report counts of contents: "5,002 contents with 2.4 MiB". */
export function contentText({ contents, contentBytes }: ContentFigures): string {
  return `${countText(contents)} contents with ${sizeText(contentBytes)}`;
}
