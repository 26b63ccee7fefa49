import type { Result } from "../core/result.ts";
import type { Call, Outcome } from "../execution/execute.ts";

/** A call that is ready to be decided, or an answer that was clear before. */
export type PreparedCall = Result<Call> | { readonly outcome: Outcome };
