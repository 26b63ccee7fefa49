import { declareListing, scanNames } from "../../account/declare-listing.ts";
import { element, metadataElement, textElement } from "../../encoding/xml-writer.ts";
import { queues } from "../records.ts";

/** learn.microsoft.com/rest/api/storageservices/list-queues1 */
export const listQueues = declareListing({
  name: "List Queues",
  id: "Service_ListQueuesSegment",
  method: "GET",
  since: "2009-09-19",
  include: [],
  element: "Queues",
  noCache: true,
  scan: (view, account, bounds) =>
    scanNames(view, queues, account, bounds, ([, name], { metadata }) => ({
      name: name as string,
      metadata,
    })),
  render: ({ name, metadata }, _now, withMetadata) =>
    element("Queue", textElement("Name", name) + (withMetadata ? metadataElement(metadata) : "")),
  positionOf: ({ name }) => name,
});
