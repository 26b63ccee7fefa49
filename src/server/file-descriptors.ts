import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { StartRefused, systemErrorCode } from "./start-refused.ts";

/** A server opens about 30 for its listeners, files and threads; the others are for connections. */
const freeDescriptorsMin = 64;

/**
 * Throws `StartRefused` if the limit on file descriptors leaves too few for a server. Checked
 * before anything is opened: Node.js from 22 on ends with a segmentation fault, without a message,
 * if there is none left for the event loop of a new thread.
 */
export function expectFreeDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < freeDescriptorsMin) opened.push(openSync(devNull, "r"));
  } catch (error) {
    const code = systemErrorCode(error);
    const isExhausted = code === "EMFILE" || code === "ENFILE";
    // Without the null device nothing can be found out, and the server may start all the same.
    if (isExhausted) throw new StartRefused([tooManyOpenFiles], error);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const tooManyOpenFiles =
  "too many open files: the limit on file descriptors is too low; raise it, for example with " +
  "`ulimit -n 4096`";
