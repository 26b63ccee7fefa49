import { byKey, type Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";
import { explain } from "./explain.ts";

/** A blob with an infinite lease, as a lock around a value. */
export type LeaseInput =
  | { readonly action: "acquire"; readonly lease: string }
  | { readonly action: "release"; readonly lease: string }
  | { readonly action: "break" }
  | { readonly action: "read" }
  /** With the lease id that the client believes to hold, or none. */
  | { readonly action: "write"; readonly value: string; readonly lease?: string };

export interface LeaseOutput {
  readonly status: number;
  readonly value?: string;
}

export type LeaseOperation = Operation<LeaseInput, LeaseOutput>;

/** No two holders, and no write by another client while the lease is held. */
export function checkLeases(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly LeaseOperation[])].flatMap(([key, all]) => {
    const known = all.filter(
      ({ input, output }) => output !== undefined || input.action !== "read",
    );
    return explain(checkLinearizable(leaseModel, known)).map((problem) => `${key}: ${problem}`);
  });
}

interface LeaseState {
  /** Empty: not leased. */
  readonly holder: string;
  readonly value: string;
}

const leaseModel: Model<LeaseInput, LeaseOutput> = {
  initial: JSON.stringify({ holder: "", value: "" } satisfies LeaseState),
  step(text, input, output) {
    const state = JSON.parse(text) as LeaseState;
    if (input.action === "read") {
      return output === undefined || output.value === state.value ? text : undefined;
    }
    const next = stepLease(state, input);
    const after = next === undefined ? text : JSON.stringify(next);
    if (output === undefined) return after;
    if (output.status >= 500) return text;
    if (isOfNoAccount(state, input)) return text;
    return output.status < 300 === (next !== undefined) ? after : undefined;
  },
};

/** Releasing a lease that is not held may fail or succeed: it changes nothing. */
function isOfNoAccount({ holder }: LeaseState, { action }: LeaseInput): boolean {
  return holder === "" && (action === "break" || action === "release");
}

/** Undefined if it must be rejected. */
function stepLease(
  state: LeaseState,
  input: Exclude<LeaseInput, { action: "read" }>,
): LeaseState | undefined {
  switch (input.action) {
    case "acquire":
      return state.holder === "" || state.holder === input.lease
        ? { ...state, holder: input.lease }
        : undefined;
    case "release":
      return state.holder === input.lease ? { ...state, holder: "" } : undefined;
    case "break":
      return { ...state, holder: "" };
    case "write":
      return state.holder === (input.lease ?? "") ? { ...state, value: input.value } : undefined;
  }
}
