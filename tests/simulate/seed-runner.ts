import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { historyText } from "../verify/history-file.ts";
import type { Operation } from "../verify/history.ts";
import { workloads, type Plan } from "./plan.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { cpuSecondsSince, simulate } from "./simulation.ts";
import type { SeedResult } from "./totals.ts";

/** What a child process simulates. */
export interface Job {
  readonly plan: Plan;
  /** A bug to plant, by its name. */
  readonly bug?: string;
  /** A folder that receives the history. */
  readonly histories?: string;
}

/** The option with which a program runs as a child process. */
const childOption = "--child";

/** A simulation makes much short-lived garbage: with Node's default of 16 MiB for new objects it
 *  took about a tenth more CPU time. */
const nodeOptions = ["--min-semi-space-size=32", "--max-semi-space-size=64"];

/** A child process is replaced after so many jobs. Sockets of killed servers are never closed, and
 *  Node keeps the HTTP parser of each, and through it the whole simulated machine: about 20 MiB for
 *  each seed. */
const jobsPerChildMax = 40;

const pollMilliseconds = 200;
/** Of the times in /proc, on all Linux systems of today. */
const millisecondsPerClockTick = 10;

/** A child process: runs the jobs that its parent sends. */
export async function serveParent(): Promise<void> {
  process.on("message", (job: Job) => {
    void runJob(job).then((result) => process.send?.(result));
  });
  await once(process, "disconnect");
  process.exit(0);
}

async function runJob({ plan, bug, histories }: Job): Promise<SeedResult> {
  const before = process.cpuUsage();
  const remove = plantedBugs.find((planted) => planted.bug === bug)?.plant();
  try {
    const { counts, findings, history, ...rest } = await simulate(plan);
    if (histories !== undefined) storeHistory(histories, plan.seed, history, rest.problems);
    const cpuSeconds = cpuSecondsSince(before);
    const summary = findings.map(
      ({ workload, operations, unknown, refused }) =>
        `${workload}: ${operations} calls, ${refused} refused, ${unknown} without a response`,
    );
    return { seed: plan.seed, site: plan.site, ...rest, counts: [...counts], cpuSeconds, summary };
  } finally {
    remove?.();
  }
}

/** Problems other than violations may have ended the run before the final reads. */
function storeHistory(
  folder: string,
  seed: number,
  history: readonly Operation[],
  problems: readonly string[],
): void {
  mkdirSync(folder, { recursive: true });
  const about = { source: "simulate", seed, complete: problems.length === 0 };
  writeFileSync(join(folder, `simulate-${seed}.jsonl`), historyText(about, history, workloads));
}

/** Runs jobs one after the other in a child process, which it replaces if a job ends or stops it:
 *  an exception that nothing catches and a loop without end are findings of their seed. */
export class SeedRunner {
  readonly #program: string;
  readonly #millisecondsMax: number;
  #child: ChildProcess | undefined;
  #jobsOfChild = 0;

  /** `program` runs `serveParent`. */
  constructor(program: string, secondsMax: number) {
    this.#program = program;
    this.#millisecondsMax = secondsMax * 1000;
  }

  async run(job: Job): Promise<SeedResult> {
    if (this.#jobsOfChild >= jobsPerChildMax) this.stop();
    const child = this.#child ?? this.#fork();
    this.#jobsOfChild += 1;
    this.#child = child;
    const waiting = new AbortController();
    const { signal } = waiting;
    const used = usedTime(child);
    let isLate = false;
    const timer = setInterval(() => {
      isLate = used() >= this.#millisecondsMax;
      if (isLate) child.kill("SIGKILL");
    }, pollMilliseconds);
    const ended = async (): Promise<SeedResult> => {
      await once(child, "exit", { signal });
      this.#child = undefined;
      const problem = isLate
        ? `hang: the run did not end within ${this.#millisecondsMax / 1000} s`
        : "crash: the run ended its process";
      return withoutResult(job.plan, problem);
    };
    const answered = async (): Promise<SeedResult> => {
      const [result] = (await once(child, "message", { signal })) as [SeedResult];
      return result;
    };
    try {
      const result = Promise.race([answered(), ended()]);
      child.send(job);
      return await result;
    } finally {
      clearInterval(timer);
      waiting.abort();
    }
  }

  stop(): void {
    this.#child?.disconnect();
    this.#child = undefined;
  }

  #fork(): ChildProcess {
    this.#jobsOfChild = 0;
    const execArgv = [...process.execArgv, ...nodeOptions];
    return fork(this.#program, [childOption], { execArgv });
  }
}

/** Milliseconds that a process has used since this call: of CPU time if the system tells, because a
 *  run is no hang if the machine is busy or has stopped the process; else of real time. */
function usedTime({ pid }: ChildProcess): () => number {
  const cpuTime = (): number | undefined => {
    try {
      // The second field, a name in parentheses, may contain spaces.
      const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
      return (Number(fields[11]) + Number(fields[12])) * millisecondsPerClockTick;
    } catch {
      return undefined;
    }
  };
  const before = cpuTime();
  const startedAt = Date.now();
  if (before === undefined) return () => Date.now() - startedAt;
  return () => (cpuTime() ?? before) - before;
}

function withoutResult({ seed, site }: Plan, problem: string): SeedResult {
  const nothing = { hash: "", operations: 0, seconds: 0, events: 0, messages: 0, cpuSeconds: 0 };
  return { seed, site, problems: [problem], counts: [], summary: [], ...nothing };
}
