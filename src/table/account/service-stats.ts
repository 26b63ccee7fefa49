import { timeout } from "../../core/common-params.ts";
import { formatHttpDate } from "../../core/dates.ts";
import { invalidQuery } from "../../core/faults.ts";
import { noBody } from "../../core/operation.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { element, textElement } from "../../core/xml-writer.ts";
import { operation } from "../resources.ts";

/** Only the secondary endpoint answers; here it is never behind.
 *  learn.microsoft.com/rest/api/storageservices/get-table-service-stats */
export const getTableServiceStats = operation({
  name: "Get Table Service Stats",
  ids: ["Service_GetStatistics"],
  route: { method: "GET", resource: "service", query: { restype: "service", comp: "stats" } },
  since: "2013-08-15",
  params: { timeout },
  body: noBody,
  permission: { letters: "r", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 200, headers: [] },
  decide: ({ secondary, now }) => {
    if (!secondary) return invalidQuery("comp", "stats");
    const state = textElement("Status", "live") + textElement("LastSyncTime", formatHttpDate(now));
    return { body: xmlBody(element("StorageServiceStats", element("GeoReplication", state))) };
  },
});
