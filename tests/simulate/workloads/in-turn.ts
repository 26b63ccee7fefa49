import type { Operation } from "../../verify/history.ts";

/** A call of a client, for tests of checkers. */
export interface Step {
  readonly input: object;
  /** Undefined without a response. */
  readonly output?: object;
}

/** The history of calls to one key, one after the other. */
export function inTurn(steps: readonly Step[]): readonly Operation[] {
  return steps.map(({ input, output }, index) => ({
    id: `${index}`,
    workload: "",
    key: "k",
    input,
    output,
    called: index,
    returned: output === undefined ? Infinity : index + 0.5,
  }));
}
