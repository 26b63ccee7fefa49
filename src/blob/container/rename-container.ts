import { otherName } from "../../operation/common-params.ts";
import { remove } from "../../operation/effects.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { checkLease } from "../../protocol/lease.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { header, required } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { containers } from "../records.ts";
import { operation } from "../resources.ts";

const acceptsLeaseId = "2021-06-08";

/** Moves the record of the container to the new name. Blobs are keyed by the container's id and do
 *  not change. learn.microsoft.com/rest/api/storageservices/rename-container */
export const renameContainer = operation({
  name: "Rename Container",
  ids: ["Container_Rename"],
  route: { method: "PUT", resource: "container", query: { restype: "container", comp: "rename" } },
  since: "2020-06-12",
  params: {
    source: required(header("x-ms-source-container-name", otherName)),
    sourceLeaseId: header("x-ms-source-lease-id", parseGuid),
  },
  body: noBody,
  namedResources: [
    {
      kind: "same-credentials",
      parameter: "x-ms-source-container-name",
      permission: { letters: "w", resourceType: "c", sas: "account-only" },
      resourceOf: (_, { source: name }) => ({ name }),
    },
  ],
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  target: "must-not-exist",
  ...noETag,
  effect: "writes",
  success: { status: 200, headers: [] },
  reads: async (view, { scope, input }) => {
    const key = { account: scope.account.id, name: input.source };
    const record = await view.get(containers, key);
    return record && { key, record };
  },
  decide: ({ readResult, input, newETag, now, version }) => {
    // Recorded: version 2021-06-08 accepts the lease id, others do not.
    if (input.sourceLeaseId !== undefined && version !== acceptsLeaseId) {
      return invalidQuery("comp", "rename");
    }
    if (readResult === undefined) return fail("ContainerNotFound");
    const { key, record } = readResult;
    const id = input.sourceLeaseId;
    const allowed = checkLease(record.lease, id, "match-if-leased", "container", now);
    if (!allowed.ok) return allowed;
    // The old record is removed first: both have the same entry in the index of container names.
    return {
      preserve: [remove(containers, key)],
      put: { ...record, etag: newETag, lease: undefined },
    };
  },
});
