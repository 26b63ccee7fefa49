import type { Clients, KillWorkload, State } from "./kill-workload.ts";

interface Known {
  acknowledged: State;
  /** Sent, never answered: it may have happened, whole, or not at all. */
  unanswered: { readonly state: State } | undefined;
}

/** Changes some objects of its own, one request at a time, until the server is gone. */
export class KillClient {
  readonly #door: KillWorkload;
  readonly #keys: readonly string[];
  readonly #known = new Map<string, Known>();
  #turn = 0;
  acknowledgedWrites = 0;

  constructor(workload: KillWorkload, name: string, objects: number) {
    this.#door = workload;
    this.#keys = Array.from({ length: objects }, (_, index) => `${name}-${index}`);
  }

  get door(): string {
    return this.#door.name;
  }

  /** Calls back after each write that was acknowledged. */
  async run(clients: Clients, onAcknowledged: () => void): Promise<void> {
    for (;;) {
      this.#turn += 1;
      const key = this.#keys[this.#turn % this.#keys.length]!;
      const known = this.#known.get(key) ?? { acknowledged: undefined, unanswered: undefined };
      this.#known.set(key, known);
      const step = this.#door.next(key, known.acknowledged, this.#turn);
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

  /** After a restart: every object is what was acknowledged, or what the last write made of it. */
  async check(clients: Clients): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [key, known] of this.#known) {
      const isState = await this.#door.look(clients, key);
      const allowed = [known.acknowledged];
      if (known.unanswered !== undefined) allowed.push(known.unanswered.state);
      const found = allowed.findIndex(isState);
      if (found < 0) problems.push(`${this.#door.name} ${key} is none of ${allowed.join(", ")}`);
      known.acknowledged = allowed[Math.max(found, 0)];
      known.unanswered = undefined;
    }
    return problems;
  }
}

/** An answer came, but not the one that was promised: no kill explains that. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && /: [1-5]\d\d /.test(error.message);
}
