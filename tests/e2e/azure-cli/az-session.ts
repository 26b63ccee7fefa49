import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";

interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The interpreter of Microsoft's package, or else of Debian's. */
const pythons = ["/opt/az/bin/python3", "/usr/bin/python3"];

/** Runs commands of the Azure CLI, whose modules are loaded once. */
export class AzSession {
  readonly #child: ChildProcess;
  readonly #answers: Interface;
  readonly #exited: Promise<unknown>;

  constructor(environment: Readonly<Record<string, string>>) {
    const python = pythons.find((path) => existsSync(path)) ?? "python3";
    this.#child = spawn(python, [join(import.meta.dirname, "az-commands.py")], {
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#exited = once(this.#child, "exit");
    this.#answers = createInterface({ input: this.#child.stdout! });
  }

  /** The parsed output of `az storage …`; rejects with its messages if it fails. */
  async run(...words: readonly string[]): Promise<unknown> {
    const line = once(this.#answers, "line") as Promise<[string]>;
    this.#child.stdin!.write(`${JSON.stringify(["storage", ...words, "--output", "json"])}\n`);
    const [text] = (await Promise.race([line, this.#exited])) as [string];
    const { status, stdout, stderr } = JSON.parse(text) as CommandResult;
    if (status !== 0) throw new Error(`az storage ${words.join(" ")}: ${status} ${stderr}`);
    return stdout.trim() === "" ? undefined : JSON.parse(stdout);
  }

  async end(): Promise<void> {
    this.#child.stdin!.end();
    await this.#exited;
  }
}
