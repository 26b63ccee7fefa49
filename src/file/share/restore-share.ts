import { otherName } from "../../operation/common-params.ts";
import { remove } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { header, required } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { deletedShares } from "../records.ts";
import { operation } from "../resources.ts";
import { parseDeletedVersion } from "../../protocol/deleted-version.ts";
import { restoreShareNeed } from "../../protocol/roles/action-need.ts";

/** Restores a soft-deleted share, perhaps under another name.
 *  learn.microsoft.com/rest/api/storageservices/restore-share */
export const restoreShare = operation({
  name: "Restore Share",
  ids: ["Share_Restore"],
  route: { method: "PUT", resource: "share", query: { restype: "share", comp: "undelete" } },
  since: "2019-12-12",
  params: {
    deletedName: required(header("x-ms-deleted-share-name", otherName)),
    version: required(header("x-ms-deleted-share-version", parseDeletedVersion)),
  },
  body: noBody,
  namedResources: [
    {
      kind: "same-credentials",
      parameter: "x-ms-deleted-share-name",
      permission: {
        letters: "w",
        resourceType: "c",
        sas: "account-only",
        actions: restoreShareNeed,
      },
      resourceOf: (_, { deletedName: name }) => ({ name }),
    },
  ],
  permission: {
    letters: "w",
    resourceType: "c",
    sas: "account-only",
    actions: restoreShareNeed,
  },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  effect: "writes",
  success: { status: 201, headers: [] },
  reads: (view, { scope, input }) => {
    const { deletedName: name, version } = input;
    return view.get(deletedShares, { account: scope.account.id, name, version });
  },
  decide: ({ scope, input, readResult }) => {
    if (readResult === undefined) return fail("ShareNotFound");
    const { deletedAt: _at, retentionDays: _days, ...share } = readResult;
    const { deletedName: name, version } = input;
    return {
      put: share,
      effects: [remove(deletedShares, { account: scope.account.id, name, version })],
    };
  },
});
