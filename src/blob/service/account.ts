import { noETag } from "../../operation/operation.ts";
import { operation } from "../resources.ts";
import { unixEpochTicks, type Ticks } from "../../base/ticks.ts";
import {
  declareListing,
  deletionElements,
  leasedElements,
  remainingDays,
  scanNames,
  type ListBounds,
} from "../../account/declare-listing.ts";
import { element, metadataElement, textElement } from "../../encoding/xml-writer.ts";
import { feedContainer } from "../change-feed/feed-records.ts";
import {
  containers,
  deletedContainers,
  type ContainerRecord,
  type DeletedContainerRecord,
} from "../records.ts";
import { formatDeletedVersion } from "../../protocol/deleted-version.ts";
import { accountScope } from "../../protocol/encryption.ts";
import { blobRead } from "../blob-policy.ts";

/** Operations of the Blob service on the account itself: its information and its containers. */

/** Declares Get Account Information for one kind of URL. Azure accepts it on the URL of the
 *  account, of a container and of a blob, which need not exist, and gives the same response.
 *  learn.microsoft.com/rest/api/storageservices/get-account-information */
function declareAccountInformation(id: string, resource: "service" | "container" | "blob") {
  return operation({
    name: "Get Account Information",
    ids: [id],
    route: {
      method: ["GET", "HEAD"],
      resource,
      query: { restype: "account", comp: "properties" },
    },
    since: "2018-03-28",
    permission: { resourceType: "sco", notFoundIfAnonymous: true },
    target: "ignored",
    ...noETag,
    policy: { ...blobRead.policy, clientKey: "none" },
    decide: ({ features }) => ({
      headers: {
        // Azure's name of accounts with a readable secondary endpoint; this server has one, too.
        "x-ms-sku-name": "Standard_RAGRS",
        "x-ms-account-kind": "StorageV2",
        "x-ms-is-hns-enabled": String(features.hierarchicalNamespace === true),
      },
    }),
  });
}

export const accountInformationOperations = [
  declareAccountInformation("Service_GetAccountInfo", "service"),
  declareAccountInformation("Container_GetAccountInfo", "container"),
  declareAccountInformation("Blob_GetAccountInfo", "blob"),
];

/** A container of a listing. `version` is set for soft-deleted containers. */
interface ListedContainer {
  readonly name: string;
  readonly record: ContainerRecord | DeletedContainerRecord;
  readonly version: Ticks | undefined;
}

/** Lists containers in the order of names, in pages.
 *  learn.microsoft.com/rest/api/storageservices/list-containers2 */
export const listContainers = declareListing({
  name: "List Containers",
  id: "Service_ListContainersSegment",
  method: ["GET", "HEAD"],
  since: "2009-09-19",
  include: ["deleted", "system"],
  element: "Containers",
  scan: async (view, account, bounds, included): Promise<readonly ListedContainer[]> => {
    const live: readonly ListedContainer[] = await scanNames(
      view,
      containers,
      account,
      bounds,
      ([, name], record) =>
        name === feedContainer && !included.has("system")
          ? undefined
          : { name: name as string, record, version: undefined },
    );
    const system = included.has("system") ? systemContainers(live, bounds) : [];
    const softDeleted = included.has("deleted")
      ? await scanNames(view, deletedContainers, account, bounds, ([, name, version], record) =>
          remainingDays(record, view.now) < 0
            ? undefined
            : { name: name as string, record, version: version as Ticks },
        )
      : [];
    const found = [...system, ...live, ...softDeleted];
    return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  },
  render: renderContainer,
  positionOf: ({ name }) => name,
});

const logs = "$logs";

/** The container of analytics logs (`$logs`), which the service lists for every account, even if no
 *  client has created it. */
function systemContainers(
  live: readonly ListedContainer[],
  { prefix, from }: ListBounds,
): readonly ListedContainer[] {
  const isListed = logs.startsWith(prefix) && logs >= from;
  if (!isListed || live.some(({ name }) => name === logs)) return [];
  return [{ name: logs, record: emptyContainer, version: undefined }];
}

const emptyContainer: ContainerRecord = {
  id: 0n,
  etag: unixEpochTicks,
  metadata: [],
  policies: [],
};

function renderContainer(
  { name, record, version }: ListedContainer,
  now: Ticks,
  withMetadata: boolean,
): string {
  const properties =
    leasedElements(record, now) +
    textElement("PublicAccess", record.publicAccess) +
    textElement("DefaultEncryptionScope", record.defaultEncryptionScope ?? accountScope) +
    textElement(
      "DenyEncryptionScopeOverride",
      String(record.denyEncryptionScopeOverride ?? false),
    ) +
    textElement("HasImmutabilityPolicy", "false") +
    textElement("HasLegalHold", "false") +
    textElement("ImmutableStorageWithVersioningEnabled", "false") +
    ("deletedAt" in record ? deletionElements(record, now) : "");
  return element(
    "Container",
    textElement("Name", name) +
      textElement("Deleted", version === undefined ? undefined : "true") +
      textElement("Version", version === undefined ? undefined : formatDeletedVersion(version)) +
      element("Properties", properties) +
      (withMetadata ? metadataElement(record.metadata) : ""),
  );
}
