import { noBody, propertiesChange } from "../../operation/operation.ts";
import { operation } from "../resources.ts";
import { defaultTier, quota, settings } from "./share-settings.ts";

/** Properties that the request does not have remain unchanged. A quota below the bytes in use is
 *  accepted and only prevents further writes.
 *  learn.microsoft.com/rest/api/storageservices/set-share-properties */
export const setShareProperties = operation({
  ...propertiesChange,
  name: "Set Share Properties",
  ids: ["Share_SetProperties"],
  route: {
    method: "PUT",
    resource: "share",
    query: { restype: "share", comp: "properties" },
  },
  since: "2015-02-21",
  params: { quota, settings },
  body: noBody,
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  success: { status: 200, headers: [] },
  decide: ({ target, input, newETag }) => {
    const present = target.settings.tier ?? defaultTier;
    const moved = input.settings.tier !== undefined && input.settings.tier !== present;
    const change = moved ? { tierChanged: newETag, tierBefore: present } : {};
    return {
      put: {
        ...target,
        quotaGib: input.quota ?? target.quotaGib,
        settings: { ...target.settings, ...input.settings, ...change },
      },
    };
  },
});
