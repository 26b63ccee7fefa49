import { otherName } from "../../operation/common-params.ts";
import { remove } from "../../operation/effects.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import type { SameCredentialsResource } from "../../protocol/named-resource.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { header, required, text } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { ticksPerDay } from "../../base/ticks.ts";
import { deletedContainers } from "../records.ts";
import { operation, type BlobAddress } from "../resources.ts";
import { parseDeletedVersion } from "../../protocol/deleted-version.ts";

const query = { restype: "container", comp: "undelete" };
const params = {
  name: required(header("x-ms-deleted-container-name", otherName)),
  version: required(header("x-ms-deleted-container-version", text)),
};

const permission = { letters: "w", resourceType: "c", sas: "account-only" } as const;
const deletedContainer: SameCredentialsResource<BlobAddress, { readonly name: string }> = {
  kind: "same-credentials",
  parameter: "x-ms-deleted-container-name",
  permission,
  resourceOf: (_, { name }) => ({ name }),
};

/** Restores the record of a soft-deleted container; its blobs were not removed. The new name may
 *  differ from the old one. learn.microsoft.com/rest/api/storageservices/restore-container */
export const restoreContainer = operation({
  name: "Restore Container",
  ids: ["Container_Restore"],
  route: { method: "PUT", resource: "container", query },
  since: "2019-12-12",
  params,
  body: noBody,
  namedResources: [deletedContainer],
  permission,
  target: "must-not-exist",
  ...noETag,
  effect: "writes",
  success: { status: 201, headers: [] },
  reads: async (view, { scope, input }) => {
    const version = parseDeletedVersion(input.version);
    if (version === undefined) return undefined;
    const key = { account: scope.account.id, name: input.name, version };
    const record = await view.get(deletedContainers, key);
    return record && { key, record };
  },
  decide: ({ readResult, newETag, now }) => {
    if (readResult === undefined) return fail("ContainerNotFound");
    const { deletedAt, retentionDays, ...container } = readResult.record;
    if (now >= deletedAt + BigInt(retentionDays) * ticksPerDay) return fail("ContainerNotFound");
    return {
      put: { ...container, etag: newETag },
      effects: [remove(deletedContainers, readResult.key)],
    };
  },
});

/** Restore Container without a container in the path: a client library that is given an empty name
 *  sends neither path nor header, and the service reports the missing header. */
export const restoreNoContainer = operation({
  name: "Restore Container",
  ids: [],
  route: { method: "PUT", resource: "service", query },
  since: "2019-12-12",
  params,
  body: noBody,
  namedResources: [deletedContainer],
  permission,
  target: "must-exist",
  ...noETag,
  effect: "reads",
  success: { status: 201, headers: [] },
  decide: () => invalidQuery("comp", query.comp),
});
