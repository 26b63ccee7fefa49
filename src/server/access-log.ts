import { destination } from "pino";
import { formatHttpDate } from "../base/dates.ts";
import { endWithin, type Clock } from "../base/world.ts";
import type { AccessLogEntry, WriteAccess } from "../http/http-service.ts";
import { maskSignatures } from "../http/diagnosis/secrets.ts";

/** The access log: one line per request on standard output, in the common log format, as Azurite
 *  writes it. `--silent` disables it. */
export interface AccessLog {
  write(entry: AccessLogEntry): void;
  /** Writes the buffered lines, for at most a second. */
  close(): Promise<void>;
}

/** The target for lines of the access log. A write must not block. */
interface AccessLogSink {
  /** Returns false if the text was dropped because too much is buffered. */
  write(text: string): boolean;
  end(): Promise<void>;
}

/** Bounds memory: beyond this length of buffered text, lines are dropped. */
const consoleBytesMax = 1024 * 1024;
const closeMillisecondsMax = 1000;

/** Opens the access log. The lines of one event-loop iteration are written together. If the console
 *  is slower than the server, lines are dropped instead of delaying requests; the next line that is
 *  written says how many. */
export function openAccessLog(clock: Clock, sink: AccessLogSink = consoleSink()): AccessLog {
  let lines = "";
  let lineCount = 0;
  let droppedCount = 0;
  let date = "";
  const flush = (): void => {
    if (lineCount === 0) return;
    const notice = droppedCount === 0 ? "" : droppedNotice(droppedCount);
    if (sink.write(notice + lines)) droppedCount = 0;
    else droppedCount += lineCount;
    lines = "";
    lineCount = 0;
  };
  return {
    write(entry) {
      if (lineCount === 0) {
        date = logDate(clock);
        clock.nextIteration(flush);
      }
      lines += lineOf(entry, date);
      lineCount += 1;
    },
    async close() {
      flush();
      await endWithin(clock, closeMillisecondsMax, sink.end());
    },
  };
}

function droppedNotice(count: number): string {
  return `Etagere access log: ${count} lines dropped, the console is slower than the server\n`;
}

function lineOf(entry: AccessLogEntry, date: string): string {
  const { remoteAddress, method, url, httpVersion, status, contentLength } = entry;
  return (
    `${remoteAddress} - - [${date}] "${method} ${printable(url)} HTTP/${httpVersion}" ` +
    `${status} ${contentLength ?? "-"}\n`
  );
}

const unprintableForm = /[^!#-~]/g;

/** Masks signatures, which are secrets, and escapes control characters, which a terminal would
 *  execute. */
function printable(url: string): string {
  const masked = url.includes("?") ? maskSignatures(url) : url;
  return masked.replaceAll(unprintableForm, percentEncoded);
}

/** The percent-encoded form of a character. It is one byte: Node.js reads each byte of a request
 *  line as one code unit. */
function percentEncoded(unit: string): string {
  return `%${unit.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Formats the current time like `10/Oct/2025:13:55:36 +0000`. */
function logDate(clock: Clock): string {
  const text = formatHttpDate(clock.wall());
  const [, day, month, year, time] = text.split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}

/** A pipe takes so many bytes as one piece (PIPE_BUF of Linux), whatever other processes write. */
const pipeBytesMax = 4096;
const wholeLines = new RegExp(`.{1,${pipeBytesMax - 1}}\\n|[^\\n]+\\n`, "gs");

/** Writes to the standard output that worker processes (`--workers`) share: in pieces that end with
 *  a line, so that lines of two processes do not mix. */
export function sharedConsoleSink(): AccessLogSink {
  const sink = consoleSink(pipeBytesMax);
  return {
    // A dropped piece is reported as all lines of the iteration.
    write: (text) =>
      !linesOf(text)
        .map((piece) => sink.write(piece))
        .includes(false),
    end: () => sink.end(),
  };
}

/** Cuts text into pieces of whole lines, each within the limit unless one line is longer. */
export function linesOf(text: string): readonly string[] {
  return text.match(wholeLines) ?? [];
}

/** Writes to standard output in the thread pool, because a full pipe would block the event loop. */
function consoleSink(maxWrite?: number): AccessLogSink {
  const limits = maxWrite === undefined ? {} : { maxWrite };
  const console = destination({ fd: 1, sync: false, maxLength: consoleBytesMax, ...limits });
  let isDropped = false;
  let isBroken = false;
  console.on("drop", () => {
    isDropped = true;
  });
  // If standard output is a pipe, its reader may exit before the server; later lines are discarded.
  console.on("error", () => {
    isBroken = true;
  });
  return {
    write(text) {
      isDropped = false;
      if (!isBroken) console.write(text);
      return !isDropped;
    },
    end: () =>
      new Promise((resolve) => {
        if (isBroken) return resolve();
        console.once("close", resolve);
        console.end();
      }),
  };
}

/** The function that the handlers of listeners call for each request (`http/handler.ts`); undefined
 *  without an access log. */
export function writeAccessOf(log: AccessLog | undefined): WriteAccess {
  return log === undefined ? undefined : (entry) => log.write(entry);
}
