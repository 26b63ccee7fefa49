import type { Result } from "../protocol/result.ts";
import type { Call, Outcome } from "../operation/execute.ts";

/** A call that is ready to be decided, or an answer that was clear before. */
export type PreparedCall = Result<Call> | { readonly outcome: Outcome };
