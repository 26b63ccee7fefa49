import type { StateReader, StateView } from "../engine.ts";
import type { Pending } from "../pending.ts";
import { rememberedState } from "../remembered-state.ts";
import { ForeseenState } from "./foreseen-state.ts";
import type { Foreseen } from "./foreseen-state.ts";
import type { ForeseenStates } from "./foreseen-states.ts";

export interface RerunStatesOptions {
  readonly batch: readonly Pending[];
  readonly foreseen: ForeseenStates;
  readonly open: () => Promise<StateView>;
}

/** What those of a batch read who have to run again: brought for all of them at once as far as it
 *  was foreseen, and otherwise asked for one by one. */
export class RerunStates {
  readonly #options: RerunStatesOptions;
  #brought: Promise<Foreseen | undefined> | undefined;
  #whole: Promise<StateReader> | undefined;

  constructor(options: RerunStatesOptions) {
    this.#options = options;
  }

  async foreseen({ foresee }: Pending): Promise<ForeseenState | undefined> {
    if (foresee === undefined) return undefined;
    this.#brought ??= this.#bring();
    const brought = await this.#brought;
    return brought === undefined ? undefined : new ForeseenState(brought);
  }

  whole(): Promise<StateReader> {
    this.#whole ??= this.#options.open().then(rememberedState);
    return this.#whole;
  }

  #bring(): Promise<Foreseen | undefined> {
    const { batch, foreseen } = this.#options;
    const all = batch.map(({ foresee }) => foresee).filter((each) => each !== undefined);
    return foreseen.openForAll(all);
  }
}
