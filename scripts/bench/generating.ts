import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Outcome, Task } from "./generator.ts";
import type { Run } from "./measure.ts";

/** Time limit of a run: Azurite may take minutes for what other servers do in seconds. */
const taskMillisecondsMax = 180_000;

/** The process that generates the load of one operation for all compared servers. */
export class Generator {
  readonly #child: ChildProcess;

  constructor(scenario: string) {
    const program = join(import.meta.dirname, "generator.js");
    this.#child = fork(program, [scenario], { execArgv: ["--max-semi-space-size=64"] });
  }

  async prepare(task: Omit<Extract<Task, { kind: "prepare" }>, "kind">): Promise<void> {
    await this.#perform({ kind: "prepare", ...task }, () => {});
  }

  /** `begin` is called when the load starts. */
  async run(
    task: Omit<Extract<Task, { kind: "run" }>, "kind">,
    begin: () => void = () => {},
  ): Promise<Run> {
    const run = await this.#perform({ kind: "run", ...task }, begin);
    if (run === undefined) throw new Error("run ended without figures");
    return run;
  }

  stop(): void {
    this.#child.kill();
  }

  #perform(task: Task, begin: () => void): Promise<Run | undefined> {
    return new Promise((resolve, reject) => {
      const child = this.#child;
      const finish = (): void => {
        clearTimeout(timer);
        child.off("message", listen);
        child.off("exit", lost);
      };
      const listen = (message: Outcome | "begin"): void => {
        if (message === "begin") return begin();
        finish();
        if ("problem" in message) reject(new Error(message.problem));
        else resolve(message.run);
      };
      const lost = (): void => {
        finish();
        reject(new Error("the generator ended"));
      };
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        lost();
      }, taskMillisecondsMax);
      child.on("message", listen);
      child.once("exit", lost);
      child.send(task);
    });
  }
}
