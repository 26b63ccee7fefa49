import { metadata } from "../../operation/common-params.ts";
import { put } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { nodes, rootId } from "../records.ts";
import { operation } from "../resources.ts";
import { directoryAttribute } from "../shared/attributes.ts";
import { rootKey } from "../share-tree.ts";
import { defaultQuotaGib, quota, settings } from "./share-settings.ts";

/** Creates a share with its root directory.
 *  learn.microsoft.com/rest/api/storageservices/create-share */
export const createShare = operation({
  name: "Create Share",
  ids: ["Share_Create"],
  route: { method: "PUT", resource: "share", query: { restype: "share" } },
  since: "2015-02-21",
  params: { metadata, quota, settings },
  body: noBody,
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  effect: "writes",
  success: { status: 201, headers: [] },
  decide: ({ input, newETag, newId }) => {
    const id = newId();
    const posix =
      input.settings.protocol === "NFS" ? { mode: "0777", owner: "0", group: "0" } : undefined;
    const root = {
      id: rootId,
      parent: rootId,
      name: "",
      kind: "directory" as const,
      etag: newETag,
      since: 1,
      created: newETag,
      lastWrite: newETag,
      change: newETag,
      attributes: directoryAttribute,
      metadata: [],
      posix,
    };
    return {
      put: {
        id,
        etag: newETag,
        metadata: input.metadata,
        policies: [],
        quotaGib: input.quota ?? defaultQuotaGib(input),
        settings: { ...input.settings, tierChanged: newETag },
        epoch: 1,
        newestSnapshot: 0,
        snapshotCount: 0,
      },
      effects: [put(nodes, rootKey(id), root)],
    };
  },
});
