import type { Operation } from "../operation/operation.ts";
import type { WireRequest } from "./wire.ts";

/** How a request uses tags, which requires a permission beside that of its operation. */
export interface TagUse {
  readonly sets: boolean;
  readonly isConditional: boolean;
}

type TagDeclaration = Pick<Operation, "params" | "conditions">;

/** A header counts only if the operation declares it; otherwise it is ignored. */
export function tagUseOf(operation: TagDeclaration, { headers }: Pick<WireRequest, "headers">) {
  return {
    sets: headers["x-ms-tags"] !== undefined && setsTags(operation),
    isConditional: headers["x-ms-if-tags"] !== undefined && hasTagCondition(operation),
  } satisfies TagUse;
}

function setsTags({ params }: TagDeclaration): boolean {
  return Object.values(params).some(({ setsTags: declared }) => declared === true);
}

function hasTagCondition({ conditions }: TagDeclaration): boolean {
  return conditions !== "none" && conditions !== "match";
}
