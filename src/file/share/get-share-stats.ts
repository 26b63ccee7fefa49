import { propertiesRead } from "../../operation/operation.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { shareUsage } from "../records.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/get-share-stats */
export const getShareStats = operation({
  ...propertiesRead,
  name: "Get Share Stats",
  ids: ["Share_GetStatistics"],
  route: { method: "GET", resource: "share", query: { restype: "share", comp: "stats" } },
  since: "2015-02-21",
  params: {},
  permission: { letters: "r", resourceType: "c", sas: "account-only" },
  success: { status: 200, headers: [] },
  reads: (view, { target }) => view.count(shareUsage.key(target.id)),
  decide: ({ readResult }) => ({
    body: xmlBody(element("ShareStats", textElement("ShareUsageBytes", readResult))),
  }),
});
