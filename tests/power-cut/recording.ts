import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ServiceUrls } from "../folder/fill.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { portFlags, program } from "../harness/child-server.ts";
import { awaitUrls } from "../harness/startup-lines.ts";
import type { Clients, KillWorkload, State } from "../kill/kill-workload.ts";
import { WireClient, type Answered } from "../smb-wire/wire-client.ts";
import { accountsOption } from "../verify/accounts-file.ts";
import { treeAccount } from "../verify/wire.ts";
import { smbAnswerId } from "./smb-answer-id.ts";
import { tracedCalls } from "./trace.ts";

/** A change of an object, with the id of the response that acknowledged it. */
export interface RecordedStep {
  readonly answer: string;
  readonly state: State;
}

export interface RecordedObject {
  readonly workload: KillWorkload;
  readonly key: string;
  readonly steps: readonly RecordedStep[];
}

export interface Recording {
  readonly objects: readonly RecordedObject[];
  /** The response that completed the set-up. */
  readonly ready: string;
}

const stringBytesMax = 8 * 1024 * 1024;

/** Runs clients on a server whose system calls that may reach the disk are traced. */
export async function record(
  { location, trace }: { readonly location: string; readonly trace: string },
  workloads: readonly KillWorkload[],
  stepsEach: number,
): Promise<Recording> {
  const tracing = ["-f", "-y", "-xx", "-s", String(stringBytesMax), "-e", "signal=none"];
  const calls = ["-e", `trace=${tracedCalls.join()}`, "-o", trace];
  const options = [`--location=${location}`, accountsOption(location), "--silent"];
  const words = [process.execPath, program, ...options, ...portFlags];
  const child = spawn("strace", [...tracing, ...calls, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    // io_uring requests would not appear in a trace of system calls.
    env: { ...process.env, UV_USE_IO_URING: "0" },
  });
  const exited = once(child, "exit");
  const found = await awaitUrls(child);
  const urls: ServiceUrls = Object.fromEntries(
    [...found].map(([name, url]) => [name.toLowerCase(), url]),
  );
  try {
    const smbAnswers = listenToSmb();
    const ready = new Requests(urls);
    for (const workload of workloads) await workload.setUp(ready.clients());
    const objects = await Promise.all(
      // SMB clients share a connection, so only one of them can identify its responses.
      workloads.flatMap((workload) =>
        (workload.name === "smb" ? ["one"] : ["one", "two"]).map((key) =>
          run(workload, key, new Requests(urls, smbAnswers), stepsEach),
        ),
      ),
    );
    return { objects, ready: ready.last };
  } finally {
    endTraced(child.pid ?? 0);
    await exited;
  }
}

/** The tracer ends with the traced process and forwards no signals. */
function endTraced(tracer: number): void {
  const children = readFileSync(`/proc/${tracer}/task/${tracer}/children`, "utf8");
  for (const pid of children.trim().split(" ")) process.kill(Number(pid), "SIGTERM");
}

const closeCommand = 6;

type Ask = (
  this: WireClient,
  ...words: Parameters<WireClient["ask"]>
) => ReturnType<WireClient["ask"]>;

/** Records every response to an SMB client of this process from now on. */
function listenToSmb(): readonly Answered[] {
  const answers: Answered[] = [];
  const ask: Ask = Reflect.get(WireClient.prototype, "ask");
  WireClient.prototype.ask = async function askAndTell(this: WireClient, ...words) {
    const answer = await ask.apply(this, words);
    answers.push(answer);
    return answer;
  };
  return answers;
}

/** Clients that record the id of the last response. */
class Requests {
  readonly #urls: ServiceUrls;
  readonly #smbAnswers: readonly Answered[];
  last = "";

  constructor(urls: ServiceUrls, smbAnswers: readonly Answered[] = []) {
    this.#urls = urls;
    this.#smbAnswers = smbAnswers;
  }

  /** Everything but a deletion is complete before the handle is closed. */
  lastOfSmb(state: State): string {
    const isDeletion = state === undefined;
    const last = this.#smbAnswers.findLast(({ command }) => isDeletion || command !== closeCommand);
    return last === undefined ? "" : smbAnswerId(last.message);
  }

  clients(): Clients {
    const { blob = "", table = "", queue = "", file = "", smb = "" } = this.#urls;
    const named = (url: string, account?: string): RawClient => {
      const client = rawClient(url, undefined, account);
      return {
        send: async (call) => {
          const answer = await client.send(call);
          this.last = String(answer.headers["x-ms-request-id"]);
          return answer;
        },
      };
    };
    return {
      blob: named(blob),
      tree: named(blob, treeAccount),
      table: named(table),
      queue: named(queue),
      file: named(file),
      fileUrl: file,
      smbUrl: smb,
    };
  }
}

async function run(
  workload: KillWorkload,
  key: string,
  requests: Requests,
  stepsMax: number,
): Promise<RecordedObject> {
  const clients = requests.clients();
  const steps: RecordedStep[] = [];
  for (let turn = 1; turn <= stepsMax; turn += 1) {
    const step = workload.next(key, steps.at(-1)?.state, turn);
    await step.send(clients);
    const answer = workload.name === "smb" ? requests.lastOfSmb(step.state) : requests.last;
    steps.push({ answer, state: step.state });
  }
  return { workload, key, steps };
}
