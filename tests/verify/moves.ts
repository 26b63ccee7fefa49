import { byKey, type Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";
import { explain } from "./explain.ts";

/** A directory with a file, which exists in exactly one place. */
export type MoveInput =
  | { readonly action: "move"; readonly from: string; readonly to: string }
  /** Reads the file under the path it has if the directory is here. */
  | { readonly action: "look"; readonly at: string };

export interface MoveOutput {
  readonly status: number;
}

export const firstPlace = "a";

/** A rename moves the whole directory atomically: it is never in two places, nor in none. */
export function checkMoves(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly Operation<MoveInput, MoveOutput>[])].flatMap(
    ([key, all]) => {
      const known = all.filter(
        ({ input, output }) => output !== undefined || input.action === "move",
      );
      return explain(checkLinearizable(moveModel, known)).map((problem) => `${key}: ${problem}`);
    },
  );
}

const moveModel: Model<MoveInput, MoveOutput> = {
  initial: firstPlace,
  step(place, input, output) {
    const isHere = place === (input.action === "look" ? input.at : input.from);
    if (output !== undefined && output.status < 500 && output.status < 300 !== isHere) {
      return undefined;
    }
    const isDone = isHere && (output === undefined || output.status < 300);
    return input.action === "move" && isDone ? input.to : place;
  },
};
