import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { spawnNode } from "./children.ts";
import type { ClientOrders } from "./client-process.ts";

export type SharedOrders = Omit<ClientOrders, "client" | "seed" | "historyFile">;

/** Client processes. A killed one is replaced by one with another name. */
export class Clients {
  readonly #orders: SharedOrders;
  readonly #seed: number;
  readonly #folder: string;
  readonly #running: ChildProcess[] = [];
  #started = 0;

  constructor(orders: SharedOrders, seed: number, folder: string) {
    this.#orders = orders;
    this.#seed = seed;
    this.#folder = folder;
  }

  add(): void {
    this.#started += 1;
    const client = `c${this.#started}`;
    const orders: ClientOrders = {
      ...this.#orders,
      client,
      seed: this.#seed + this.#started * 1_000_000,
      historyFile: join(this.#folder, `${client}.jsonl`),
    };
    const program = join(import.meta.dirname, "client-process.js");
    const words = [program, JSON.stringify(orders)];
    this.#running.push(spawnNode(words, { stdio: "inherit" }));
  }

  async replaceOldest(): Promise<void> {
    const oldest = this.#running.shift();
    if (oldest === undefined) return;
    if (isRunning(oldest)) {
      const exited = once(oldest, "exit");
      oldest.kill("SIGKILL");
      await exited;
    }
    this.add();
  }

  async ended(): Promise<void> {
    for (const child of this.#running) if (isRunning(child)) await once(child, "exit");
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
