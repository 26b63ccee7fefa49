import { closeSync, openSync } from "node:fs";
import { devNull, totalmem } from "node:os";
import { StartRefused, systemErrorCode } from "./refused.ts";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { constrainedMemory, cpuUsage, memoryUsage, resourceUsage } from "node:process";

/** What the process gets from the operating system and V8: file descriptors, memory figures,
 *  settings of the garbage collector. */

/** File descriptors that must be free before a server starts. It opens about 30 for listeners,
 *  files and threads; connections need the rest. */
const freeDescriptorsMin = 64;

/** Throws `StartRefused` if the limit on file descriptors leaves too few for a server. Checked
 *  before anything is opened: Node.js from 22 on ends with a segmentation fault, without a message,
 *  if there is none left for the event loop of a new thread. */
export function expectFreeDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < freeDescriptorsMin) opened.push(openSync(devNull, "r"));
  } catch (error) {
    const code = systemErrorCode(error);
    const isExhausted = code === "EMFILE" || code === "ENFILE";
    // Any other error (a missing null device) does not show a lack of descriptors, so the server
    // starts.
    if (isExhausted) throw new StartRefused([tooManyOpenFiles], error);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const tooManyOpenFiles =
  "too many open files: the limit on file descriptors is too low; raise it, for example with " +
  "`ulimit -n 4096`";

/**
 * Allocates every object in the young generation.
 *
 * By default V8 moves allocation sites whose objects often survive a collection to the old
 * generation. At 64 concurrent requests that happens to objects of the request steps; each of them
 * then keeps its whole request alive until the next full collection, although a request is garbage
 * within milliseconds. Measured in process: Get Blob of 1 KiB 13.5 µs of CPU instead of 23 µs.
 *
 * A process-wide setting, so the command line makes it, not `start()`.
 */
export function disablePretenuring(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

/** Memory of the machine, or of the container if that has less. */
export function availableMemoryBytes(): number {
  const constrained = constrainedMemory();
  const total = totalmem();
  return constrained > 0 ? Math.min(constrained, total) : total;
}

/** A limit that depends on the memory: all workers together may have one unit (a byte, or a
 *  connection) per `memoryBytesPerUnit`, and no more than `unitsMax`. Each may have its equal part,
 *  but at least `unitsPerWorkerMin`. */
interface MemoryShare {
  readonly memoryBytesPerUnit: number;
  readonly unitsMax: number;
  readonly unitsPerWorkerMin: number;
}

/** The limit of one worker of `workerCount`. */
export function shareOfMemory(
  { memoryBytesPerUnit, unitsMax, unitsPerWorkerMin }: MemoryShare,
  memoryBytes: number,
  workerCount: number,
): number {
  const units = Math.min(unitsMax, memoryBytes / memoryBytesPerUnit);
  return Math.round(Math.max(unitsPerWorkerMin, units / workerCount));
}

/** Memory and CPU time of this process, for metrics. */
export interface ProcessFigures {
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly cpuSeconds: number;
}

const microsecondsPerSecond = 1_000_000;

export function processFigures(): ProcessFigures {
  const { user, system } = cpuUsage();
  const cpuSeconds = (user + system) / microsecondsPerSecond;
  return { ...memoryFigures(), cpuSeconds };
}

function memoryFigures(): Omit<ProcessFigures, "cpuSeconds"> {
  try {
    const { rss, heapUsed } = memoryUsage();
    return { residentBytes: rss, heapUsedBytes: heapUsed };
  } catch {
    // If `/proc` is missing (in a bare chroot), only the largest size so far is known.
    const { used_heap_size: heapUsedBytes } = getHeapStatistics();
    return { residentBytes: resourceUsage().maxRSS * bytesPerKibibyte, heapUsedBytes };
  }
}

const bytesPerKibibyte = 1024;
