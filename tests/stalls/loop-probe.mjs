// Preloaded into a server under test (`node --import`). Measures the CPU time of the longest
// iteration of the event loop between the messages "begin" and "end" of the parent process.
import { openSync, readSync } from "node:fs";

const tickMilliseconds = 1;
/** The loop counts as settled after so many ticks in a row with little work. */
const quietTicks = 100;
const quietMilliseconds = 2;
const settleTicksMax = 20_000;
const heldMilliseconds = 150;

const cpuMilliseconds = threadClock();
let before = 0;
let longest = 0;
let ticker;

/** CPU time of the main thread alone: helper threads of the engine and the garbage collector, and
 *  other processes on the machine, do not hold the loop. */
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

/** A timer is due again before an iteration has worked for long: between two ticks lies at most
 *  one long iteration and a millisecond of others. */
function tick() {
  const now = cpuMilliseconds();
  const spent = now - before;
  before = now;
  if (spent > longest) longest = spent;
  return spent;
}

/** The garbage of earlier requests is collected first: its cost is not this action's. */
function begin() {
  globalThis.gc();
  longest = 0;
  before = cpuMilliseconds();
  clearInterval(ticker);
  ticker = setInterval(tick, tickMilliseconds).unref();
  process.send({ kind: "began" });
}

/** What an action left behind (closed connections, jobs) still counts. */
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

/** Holds the loop for a known time: the proof that a stall is seen. */
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
