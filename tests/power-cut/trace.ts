import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** System calls that change the disk or send a response. */
export const tracedCalls = [
  "openat",
  "lseek",
  "write",
  "writev",
  "pwrite64",
  "pwritev",
  "sendto",
  "sendmsg",
  "ftruncate",
  "fsync",
  "fdatasync",
  "link",
  "linkat",
  "rename",
  "renameat2",
  "unlink",
  "unlinkat",
  "mkdir",
];

/** One system call of one thread: its entry or its exit. */
export interface TraceEvent {
  readonly phase: "enter" | "exit";
  /** Equal for entry and exit of a call. */
  readonly id: number;
  readonly call: string;
  readonly words: string;
  /** The return value; at the exit only. */
  readonly result: number;
  /** The path of the returned descriptor. */
  readonly resultPath: string;
}

interface Begun {
  readonly id: number;
  readonly call: string;
  readonly words: string;
}

const completeLine = /^(\d+) +(\w+)\((.*)\) += (-?\d+|\?)(?:<((?:\\x[0-9a-f]{2})*)>)?/s;
const unfinishedLine = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s;
const resumedLine =
  /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?)(?:<((?:\\x[0-9a-f]{2})*)>)?/s;

/** The calls in the order in which they began and ended; an unfinished call has no exit. */
export async function* readTrace(path: string): AsyncGenerator<TraceEvent> {
  const running = new Map<string, Begun>();
  let ids = 0;
  for await (const line of createInterface({ input: createReadStream(path, "latin1") })) {
    const complete = completeLine.exec(line);
    const unfinished = complete === null ? unfinishedLine.exec(line) : null;
    const resumed = complete === null ? resumedLine.exec(line) : null;
    if (complete !== null) {
      const [, , call = "", words = "", result = "", resultPath = ""] = complete;
      const begun = { id: (ids += 1), call, words };
      yield enterOf(begun);
      yield exitOf(begun, result, resultPath);
    } else if (unfinished !== null) {
      const [, thread = "", call = "", words = ""] = unfinished;
      const begun = { id: (ids += 1), call, words };
      running.set(thread, begun);
      yield enterOf(begun);
    } else if (resumed !== null) {
      const [, thread = "", , , result = "", resultPath = ""] = resumed;
      const begun = running.get(thread);
      running.delete(thread);
      if (begun !== undefined) yield exitOf(begun, result, resultPath);
    }
  }
}

function enterOf(begun: Begun): TraceEvent {
  return { phase: "enter", ...begun, result: 0, resultPath: "" };
}

function exitOf(begun: Begun, result: string, resultPath: string): TraceEvent {
  const path = bytesIn(resultPath).toString();
  return { phase: "exit", ...begun, result: Number(result), resultPath: path };
}

/** Strings are escaped as `\x2f\x74…`, so that they contain no delimiters. */
export function bytesIn(escaped: string): Buffer {
  return Buffer.from(escaped.replaceAll(String.raw`\x`, ""), "hex");
}

/** The concatenated string arguments of a call. */
export function dataIn(words: string): Buffer {
  return Buffer.concat([...words.matchAll(/"([^"]*)"/g)].map(([, text = ""]) => bytesIn(text)));
}

export function pathsIn(words: string): readonly string[] {
  return [...words.matchAll(/"([^"]*)"/g)].map(([, text = ""]) => bytesIn(text).toString());
}

/** The first argument of most calls: `19</a/path>`. */
export function descriptorIn(words: string): { readonly number: number; readonly path: string } {
  const [, number = "", path = ""] = /^(\d+)<([^>]*)>/.exec(words) ?? [];
  return { number: Number(number), path: bytesIn(path).toString() };
}

export function lastNumberIn(words: string): number {
  return Number(/(\d+)$/.exec(words)?.[1]);
}
