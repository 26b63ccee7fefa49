import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { spawnWithin } from "../children.ts";

/** What is changed about the connections that come to a port; one port for each node. */
export interface GateOrder {
  readonly port: number;
  /** The address of the database for new connections. */
  readonly target?: string;
  /** Milliseconds for which all bytes are kept, in both directions. */
  readonly delay?: number;
  /** Closes all connections. */
  readonly cut?: boolean;
  /** Forwards this many commits and loses their responses. */
  readonly lose?: number;
  /** Whether commits that fail in the database are acknowledged: a bug. */
  readonly lie?: boolean;
}

export class Gate {
  readonly #child: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  constructor(within: readonly string[]) {
    const program = join(import.meta.dirname, "gate-process.js");
    this.#child = spawnWithin(within, [program], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
  }

  /** Resolves when it is done. */
  order(order: GateOrder): Promise<void> {
    const before = this.#last;
    const done = (async () => {
      await before;
      const answered = once(this.#child, "message");
      this.#child.send(order);
      await answered;
    })();
    this.#last = done;
    return done;
  }
}
