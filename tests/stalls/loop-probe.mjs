// Preloaded into a server under test (`node --import`). Measures the CPU time of the longest
// iteration of the event loop between the messages "begin" and "end" of the parent process.
import { openSync, readSync } from "node:fs";

const tickMilliseconds = 1;
/** The loop counts as idle after this many consecutive ticks with little work. */
const quietTicks = 100;
const quietMilliseconds = 2;
const settleTicksMax = 20_000;
const heldMilliseconds = 150;

const cpuMilliseconds = threadClock();
let before = 0;
let longest = 0;
let ticker;

/**
 * CPU time of the main thread only: engine threads, the garbage collector and other processes do
 * not block the loop.
 */
function threadClock() {
  if (process.threadCpuUsage !== undefined) {
    return () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    };
  }
  try {
    // The first number is the time spent on a CPU, in nanoseconds.
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
    const bytes = Buffer.alloc(128);
    return () => Number.parseInt(bytes.latin1Slice(0, readSync(file, bytes, 0, 128, 0)), 10) / 1e6;
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
  }
}

/**
 * The timer is due before an iteration has worked for long: between two ticks there is at most one
 * long iteration and a millisecond of others.
 */
function tick() {
  const now = cpuMilliseconds();
  const spent = now - before;
  before = now;
  if (spent > longest) longest = spent;
  return spent;
}

/** Collects garbage of earlier requests first, whose cost does not belong to this action. */
function begin() {
  globalThis.gc();
  longest = 0;
  before = cpuMilliseconds();
  clearInterval(ticker);
  ticker = setInterval(tick, tickMilliseconds).unref();
  process.send({ kind: "began" });
}

/** Work that an action left behind (closed connections, jobs) counts. */
function end() {
  clearInterval(ticker);
  let quiet = 0;
  let ticks = 0;
  ticker = setInterval(() => {
    quiet = tick() < quietMilliseconds ? quiet + 1 : 0;
    ticks += 1;
    if (quiet < quietTicks && ticks < settleTicksMax) return;
    clearInterval(ticker);
    const residentBytes = process.memoryUsage.rss();
    process.send({ kind: "ended", cpuMilliseconds: longest, residentBytes });
  }, tickMilliseconds);
}

/** Blocks the loop for a known time, which shows that a stall is detected. */
function hold() {
  const until = cpuMilliseconds() + heldMilliseconds;
  while (cpuMilliseconds() < until);
  process.send({ kind: "held" });
}

process.on("message", (message) => {
  if (message === "begin") begin();
  else if (message === "end") end();
  else if (message === "hold") hold();
});
process.channel?.unref();
