import { fail, type Failure } from "../../protocol/result.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/attributes.ts";

/** The properties of a file or directory that can prevent its deletion. */
interface DeleteFacts {
  readonly node: NodeRecord;
  /** Whether this is a directory with entries. */
  readonly hasChildren: boolean;
}

export type DeleteFault = "root" | "read-only" | "not-empty";

const isFaulty: Readonly<Record<DeleteFault, (facts: DeleteFacts) => boolean>> = {
  root: ({ node }) => node.id === rootId,
  "read-only": ({ node }) => isReadOnly(node),
  "not-empty": ({ hasChildren }) => hasChildren,
};

/** The order in which each protocol checks: the first fault is reported. */
export const deleteFaultOrder = {
  overRest: ["root", "not-empty", "read-only"],
  // [MS-FSA] 2.1.5.15.3
  overSmb: ["root", "read-only", "not-empty"],
} as const satisfies Readonly<Record<string, readonly DeleteFault[]>>;

/** Why a file or directory may not be deleted or made delete-pending; undefined if it may. Handles
 *  and leases are checked before, as for every operation. */
export function refuseDelete(
  facts: DeleteFacts,
  order: readonly DeleteFault[],
): DeleteFault | undefined {
  return order.find((fault) => isFaulty[fault](facts));
}

/** The faults of a deletion over REST. */
export const deleteFailures: Readonly<Record<DeleteFault, Failure>> = {
  root: fail("InvalidResourceName"),
  "read-only": fail("ReadOnlyAttribute"),
  "not-empty": fail("DirectoryNotEmpty"),
};
