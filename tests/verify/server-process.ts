import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { awaitUrls } from "../harness/startup-lines.ts";
import { accountsOption } from "./accounts-file.ts";
import { spawnWithin } from "./children.ts";
import { DropProxy } from "./drop-proxy.ts";
import type { Endpoints } from "./wire.ts";

const services: readonly (keyof Endpoints)[] = ["blob", "queue", "table", "file", "smb"];

export interface ServerOptions {
  /** The program to start, e.g. `bin/etagere`. */
  readonly program: string;
  readonly location: string;
  readonly store: string | undefined;
  /** Gets the events of an account. */
  readonly webhook: string;
  /** Preloaded modules that make its wall clock jump, or its files slow, at a signal. */
  readonly preloads: readonly string[];
  /** The machine on which it runs, if it is not this one. */
  readonly machine?: {
    readonly host: string;
    /** The words before a command that runs there. */
    readonly within: readonly string[];
    readonly options: readonly string[];
    readonly env: NodeJS.ProcessEnv;
    /** The file that gets its log. */
    readonly log: string;
  };
}

/** A server that is killed, paused and restarted behind stable addresses. */
export class ServerProcess {
  readonly #options: ServerOptions;
  readonly #proxies = new Map(services.map((name) => [name, new DropProxy()] as const));
  #child: ChildProcess | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get endpoints(): Endpoints {
    const urlOf = (name: keyof Endpoints): string => this.#proxies.get(name)?.url ?? "";
    return {
      blob: urlOf("blob"),
      queue: urlOf("queue"),
      table: urlOf("table"),
      file: urlOf("file"),
      smb: urlOf("smb"),
    };
  }

  async start(): Promise<void> {
    const { program, location, store, webhook, preloads, machine } = this.#options;
    const hosts =
      machine === undefined ? [] : services.map((name) => `--${name}Host=${machine.host}`);
    const ports = [...services, "dfs", "admin"].map((name) => `--${name}Port=0`);
    const loading = preloads.flatMap((path) => ["--import", path]);
    const words = [
      ...loading,
      program,
      `--location=${location}`,
      accountsOption(location, webhook),
      `--eventWebhooks=${webhook}`,
      ...ports,
      ...hosts,
      ...(machine?.options ?? []),
    ];
    if (store !== undefined) words.push(`--store=${store}`);
    const child = spawnWithin(machine?.within ?? [], words, {
      stdio: ["ignore", "pipe", machine === undefined ? "inherit" : openSync(machine.log, "a")],
      env: { ...process.env, ...machine?.env },
    });
    this.#child = child;
    const urls = await awaitUrls(child);
    for (const [name, proxy] of this.#proxies) {
      const url = urls.get(name);
      if (url !== undefined) await proxy.open(url);
    }
  }

  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
    for (const proxy of this.#proxies.values()) proxy.close();
  }

  signal(signal: "SIGSTOP" | "SIGCONT" | "SIGUSR2" | "SIGWINCH"): void {
    this.#child?.kill(signal);
  }

  drop(isChosen: () => boolean): number {
    const dropped = [...this.#proxies.values()].map((proxy) => proxy.drop(isChosen));
    return dropped.reduce((sum, count) => sum + count, 0);
  }
}
