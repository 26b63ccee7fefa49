import { metadata } from "../../operation/common-params.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { operation } from "../resources.ts";

/** Succeeds with 204 if the queue exists with the same metadata.
 *  learn.microsoft.com/rest/api/storageservices/create-queue4 */
export const createQueue = operation({
  name: "Create Queue",
  ids: ["Queue_Create"],
  route: { method: "PUT", resource: "queue" },
  since: "2009-09-19",
  params: { metadata },
  body: noBody,
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "may-exist",
  ...noETag,
  effect: "writes",
  success: { status: 201, headers: [] },
  decide: ({ target, input, newId }) => {
    if (target !== undefined) {
      return isSameMetadata(target.metadata, input.metadata)
        ? { status: 204 }
        : fail("QueueAlreadyExists");
    }
    return { put: { id: newId(), metadata: input.metadata, policies: [] } };
  },
});

function isSameMetadata(left: Metadata, right: Metadata): boolean {
  if (left.length !== right.length) return false;
  const values = new Map(left.map(([name, value]) => [name.toLowerCase(), value]));
  return right.every(([name, value]) => values.get(name.toLowerCase()) === value);
}
