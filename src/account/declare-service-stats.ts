import { formatHttpDate } from "../base/dates.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { noBody, type Operation } from "../operation/operation.ts";
import { xmlBody } from "../encoding/xml-body.ts";
import { element, textElement } from "../encoding/xml-writer.ts";
import { cacheHeadersOf, type ServiceDeclaration } from "./declare-service-properties.ts";
import { serviceOperation } from "./service-operation.ts";

/** Get Service Stats of any service, only on the secondary endpoint, which has no replication lag
 *  here. learn.microsoft.com/rest/api/storageservices/get-blob-service-stats */
export function declareServiceStats(form: Omit<ServiceDeclaration, "since">): Operation {
  const { title, params = {} } = form;
  const cacheHeaders = cacheHeadersOf(form);
  return serviceOperation({
    name: `Get ${title} Service Stats`,
    ids: ["Service_GetStatistics"],
    route: { method: "GET", resource: "service", query: { restype: "service", comp: "stats" } },
    since: "2013-08-15",
    params,
    body: noBody,
    permission: { letters: "r", resourceType: "s", sas: "account-only" },
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "reads",
    success: { status: 200, headers: cacheHeaders.names },
    decide: ({ secondary, now }) => {
      if (!secondary) return invalidQuery("comp", "stats");
      const synced = textElement("LastSyncTime", formatHttpDate(now));
      const state = element("GeoReplication", textElement("Status", "live") + synced);
      return {
        ...cacheHeaders.answered,
        body: xmlBody(element("StorageServiceStats", state)),
      };
    },
  });
}
