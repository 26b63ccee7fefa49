import { expect, it } from "vitest";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { actionNeedOf } from "../../src/protocol/roles/action-need.ts";
import { services } from "../../src/data/services.ts";

const blobs = "blobServices/containers/blobs";
const containers = "blobServices/containers";
const messages = "queueServices/queues/messages";
const entities = "tableServices/tables/entities";
const readFiles =
  "fileServices/fileShares/files/read & fileServices/readFileBackupSemantics/action";
const writeFiles =
  "fileServices/fileShares/files/write & fileServices/writeFileBackupSemantics/action";

/** From Azure's tables of permissions for data operations. */
const documented: readonly (readonly [service: string, operation: string, actions: string])[] = [
  ["blob", "List Containers", `${containers}/read`],
  ["blob", "Set Blob Service Properties", "blobServices/write"],
  ["blob", "Get Blob Service Properties", "blobServices/read"],
  ["blob", "Preflight Blob Request", ""],
  ["blob", "Get Blob Service Stats", "blobServices/read"],
  ["blob", "Get Account Information", "blobServices/getInfo/action"],
  ["blob", "Get User Delegation Key", "blobServices/generateUserDelegationKey/action"],
  ["blob", "Create Container", `${containers}/write`],
  ["blob", "Create Session", `${blobs}/read`],
  ["blob", "Get Container Properties", `${containers}/read`],
  ["blob", "Set Container Metadata", `${containers}/write`],
  ["blob", "Get Container ACL", `${containers}/getAcl/action`],
  ["blob", "Set Container ACL", `${containers}/setAcl/action`],
  ["blob", "Lease Container", `${containers}/write`],
  ["blob", "Delete Container", `${containers}/delete`],
  ["blob", "Restore Container", `${containers}/write`],
  ["blob", "List Blobs", `${blobs}/read`],
  ["blob", "Find Blobs by Tags in Container", `${blobs}/filter/action`],
  ["blob", "Put Blob", `${blobs}/write | ${blobs}/add/action`],
  ["blob", "Get Blob", `${blobs}/read`],
  ["blob", "Get Blob Tags", `${blobs}/tags/read`],
  ["blob", "Set Blob Tags", `${blobs}/tags/write`],
  ["blob", "Lease Blob", `${blobs}/write`],
  ["blob", "Snapshot Blob", `${blobs}/write | ${blobs}/add/action`],
  ["blob", "Copy Blob", `${blobs}/write | ${blobs}/add/action`],
  ["blob", "Abort Copy Blob", `${blobs}/write`],
  ["blob", "Set Blob Tier", `${blobs}/write`],
  ["blob", "Blob Batch", `${containers}/write`],
  ["blob", "Set Blob Immutability Policy", `${blobs}/immutableStorage/runAsSuperUser/action`],
  ["blob", "Put Block List", `${blobs}/write`],
  ["blob", "Get Page Ranges", `${blobs}/read`],
  ["blob", "Append Block", `${blobs}/write | ${blobs}/add/action`],
  ["queue", "List Queues", "queueServices/queues/read"],
  ["queue", "Create Queue", "queueServices/queues/write"],
  ["queue", "Delete Queue", "queueServices/queues/delete"],
  ["queue", "Set Queue ACL", "queueServices/queues/setAcl/action"],
  ["queue", "Put Message", `${messages}/add/action | ${messages}/write`],
  ["queue", "Get Messages", `${messages}/process/action | ${messages}/delete & ${messages}/read`],
  ["queue", "Peek Messages", `${messages}/read`],
  ["queue", "Delete Message", `${messages}/process/action | ${messages}/delete`],
  ["queue", "Clear Messages", `${messages}/delete`],
  ["queue", "Update Message", `${messages}/write`],
  ["table", "Query Tables", "tableServices/tables/read"],
  ["table", "Create Table", "tableServices/tables/write"],
  ["table", "Delete Table", "tableServices/tables/delete"],
  ["table", "Entity Group Transaction", ""],
  ["table", "Query Entities", `${entities}/read`],
  ["table", "Insert Entity", `${entities}/write | ${entities}/add/action`],
  [
    "table",
    "Insert Or Merge Entity",
    `${entities}/write | ${entities}/add/action & ${entities}/update/action`,
  ],
  ["table", "Update Entity", `${entities}/write | ${entities}/update/action`],
  ["table", "Delete Entity", `${entities}/delete`],
  ["file", "List Shares", "fileServices/shares/read"],
  ["file", "Snapshot Share", "fileServices/shares/write"],
  ["file", "Get Share ACL", "fileServices/shares/read"],
  ["file", "Set Share ACL", "fileServices/shares/write"],
  ["file", "Restore Share", "fileServices/shares/restore/action"],
  ["file", "Lease Share", "fileServices/shares/lease/action"],
  [
    "file",
    "Create Permission",
    "fileServices/fileShares/files/modifypermissions/action & " +
      "fileServices/writeFileBackupSemantics/action",
  ],
  ["file", "Get Permission", readFiles],
  ["file", "List Directories and Files", readFiles],
  ["file", "Get File", readFiles],
  ["file", "Delete File", writeFiles],
  ["file", "Lease File", writeFiles],
  ["file", "Force Close Handles", writeFiles],
  ["file", "List Handles", readFiles],
];

function actionsOf(service: string, name: string): readonly string[] {
  const declared = services.find((each) => each.name === service)?.operations ?? [];
  const found = declared.filter((operation) => operation.name === name);
  return found.map((operation) => {
    const need = actionNeedOf(service as "blob", operation);
    const texts = need.map((all) => all.join(" & ")).join(" | ");
    return texts.replaceAll("Microsoft.Storage/storageAccounts/", "");
  });
}

it.each(documented)("%s: %s needs %s", (service, operation, actions) => {
  const found = actionsOf(service, operation);
  expect(found.length).toBeGreaterThan(0);
  for (const each of found) expect(each).toBe(actions);
});

it("each form of Delete Blob needs its own action", () => {
  expect(new Set(actionsOf("blob", "Delete Blob"))).toEqual(
    new Set([
      `${blobs}/delete`,
      `${blobs}/deleteBlobVersion/action`,
      `${blobs}/permanentDelete/action`,
    ]),
  );
});

/** Nothing is permitted without an action by mistake. */
it("only preflights, the website and table transactions need no action", () => {
  const free = [...services, dfsService].flatMap(({ name, operations }) =>
    operations
      .filter((operation) => actionNeedOf(name, operation).some((all) => all.length === 0))
      .map((operation) => operation.name),
  );
  expect(new Set(free)).toEqual(
    new Set([
      "Preflight Blob Request",
      "Preflight Queue Request",
      "Preflight Table Request",
      "Preflight File Request",
      "Static website GET",
      "Entity Group Transaction",
    ]),
  );
});
