import type { Clients, KillWorkload, State } from "./kill-workload.ts";

interface Known {
  acknowledged: State;
  /** Sent without a response: executed completely or not at all. */
  unanswered: { readonly state: State } | undefined;
}

/** Changes its own objects, one request at a time, until the server dies. */
export class KillClient {
  readonly #workload: KillWorkload;
  readonly #keys: readonly string[];
  readonly #known = new Map<string, Known>();
  #turn = 0;
  acknowledgedWrites = 0;

  constructor(workload: KillWorkload, name: string, objects: number) {
    this.#workload = workload;
    this.#keys = Array.from({ length: objects }, (_, index) => `${name}-${index}`);
  }

  get workload(): string {
    return this.#workload.name;
  }

  /** Calls back after each acknowledged write. */
  async run(clients: Clients, onAcknowledged: () => void): Promise<void> {
    for (;;) {
      this.#turn += 1;
      const key = this.#keys[this.#turn % this.#keys.length]!;
      const known = this.#known.get(key) ?? { acknowledged: undefined, unanswered: undefined };
      this.#known.set(key, known);
      const step = this.#workload.next(key, known.acknowledged, this.#turn);
      known.unanswered = { state: step.state };
      try {
        await step.send(clients);
      } catch (error) {
        if (isRefusal(error)) throw error;
        return;
      }
      known.acknowledged = step.state;
      known.unanswered = undefined;
      this.acknowledgedWrites += step.writes;
      onAcknowledged();
    }
  }

  /** After a restart: every object has the acknowledged state, or that of the interrupted write. */
  async check(clients: Clients): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [key, known] of this.#known) {
      const allowed = [known.acknowledged];
      if (known.unanswered !== undefined) allowed.push(known.unanswered.state);
      const find = async () => allowed.findIndex(await this.#workload.look(clients, key));
      let found = await find();
      // A look may take several requests. A write without a response may have taken effect between
      // two of them, if only a part of the processes was killed: the next look shows it whole.
      if (found < 0 && known.unanswered !== undefined) found = await find();
      if (found < 0)
        problems.push(`${this.#workload.name} ${key} is none of ${allowed.join(", ")}`);
      known.acknowledged = allowed[Math.max(found, 0)];
      known.unanswered = undefined;
    }
    return problems;
  }
}

/** A response with an unexpected status, which no kill explains. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && /: [1-5]\d\d /.test(error.message);
}
