import type { ServiceName } from "../names.ts";
import { storageAction, subscriptionAction, type RoleDefinition } from "./role.ts";

/** Azure's built-in roles for the data of storage accounts, which role assignments may name.
 *  learn.microsoft.com/azure/role-based-access-control/built-in-roles/storage */

const blobs = "blobServices/containers/blobs";
const messages = "queueServices/queues/messages";
const entities = "tableServices/tables/entities";
const files = "fileServices/fileShares/files";
const delegation = delegationOf("blob");

function delegationOf(service: ServiceName): string {
  return `${service}Services/generateUserDelegationKey/action`;
}

function delegator(service: ServiceName, title: string, id: string): RoleDefinition {
  return role(`Storage ${title} Delegator`, id, [delegationOf(service)], []);
}

function role(
  name: string,
  id: string,
  actions: readonly string[],
  dataActions: readonly string[],
): RoleDefinition {
  return {
    name,
    id,
    actions: actions.map(storageAction),
    notActions: [],
    dataActions: dataActions.map(storageAction),
    notDataActions: [],
  };
}

/** A role for managing the event subscriptions of an account; it gives no access to data. */
function subscriptionRole(title: string, id: string, names: readonly string[]): RoleDefinition {
  const own = role(`EventGrid EventSubscription ${title}`, id, [], []);
  return { ...own, actions: names.map(subscriptionAction) };
}

function below(parent: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `${parent}/${name}`);
}

const containers = "blobServices/containers";
const queues = "queueServices/queues";
const tables = "tableServices/tables";

export const builtInRoles: readonly RoleDefinition[] = [
  role(
    "Storage Blob Data Owner",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    [`${containers}/*`, delegation],
    [`${blobs}/*`],
  ),
  role(
    "Storage Blob Data Contributor",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    [...below(containers, "delete", "read", "write"), delegation],
    below(blobs, "delete", "read", "write", "move/action", "add/action"),
  ),
  role(
    "Storage Blob Data Reader",
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
    [`${containers}/read`, delegation],
    [`${blobs}/read`],
  ),
  delegator("blob", "Blob", "db58b8e5-c6ad-4a2a-8342-4190687cbf4a"),
  delegator("queue", "Queue", "7ee386e9-84f0-448e-80a6-f185f6533131"),
  delegator("table", "Table", "965033a5-c8eb-4f35-b82f-fef460a3606d"),
  delegator("file", "File", "765a04e0-5de8-4bb2-9bf6-b2a30bc03e91"),
  role(
    "Storage Queue Data Contributor",
    "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    below(queues, "delete", "read", "write"),
    below(messages, "delete", "read", "write", "process/action"),
  ),
  role(
    "Storage Queue Data Message Processor",
    "8a0f0c08-91a1-4084-bc3d-661d67233fed",
    [],
    below(messages, "read", "process/action"),
  ),
  role(
    "Storage Queue Data Message Sender",
    "c6a89b2d-59bc-44d0-9896-0f6e12d7b80a",
    [],
    [`${messages}/add/action`],
  ),
  role(
    "Storage Queue Data Reader",
    "19e7f393-937e-4f77-808e-94535e297925",
    [`${queues}/read`],
    [`${messages}/read`],
  ),
  role(
    "Storage Table Data Contributor",
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3",
    below(tables, "read", "write", "delete"),
    below(entities, "read", "write", "delete", "add/action", "update/action"),
  ),
  role(
    "Storage Table Data Reader",
    "76199698-9eea-4c19-bc75-cec21354c6b6",
    [`${tables}/read`],
    [`${entities}/read`],
  ),
  role(
    "Storage File Data Privileged Contributor",
    "69566ab7-960f-475b-8e7c-b3118f30c6bd",
    [],
    [
      ...below(files, "read", "write", "delete", "modifypermissions/action"),
      "fileServices/readFileBackupSemantics/action",
      "fileServices/writeFileBackupSemantics/action",
    ],
  ),
  role(
    "Storage File Data Privileged Reader",
    "b8eda974-7b85-4f76-af95-65846b26df6d",
    [],
    [`${files}/read`, "fileServices/readFileBackupSemantics/action"],
  ),
  // The REST API is used with the backup intent, which these three do not include.
  role(
    "Storage File Data SMB Share Reader",
    "aba4ae5f-2193-4029-9191-0cb91df5e314",
    [],
    [`${files}/read`],
  ),
  role(
    "Storage File Data SMB Share Contributor",
    "0c867c2a-1d8c-454a-a3db-ab2ea1bdc8bb",
    [],
    below(files, "read", "write", "delete"),
  ),
  role(
    "Storage File Data SMB Share Elevated Contributor",
    "a7264617-510b-434b-a828-9731dc254ea7",
    [],
    below(files, "read", "write", "delete", "modifypermissions/action"),
  ),
  subscriptionRole("Contributor", "428e0ff0-5e57-4d9c-a221-2c70d0e0a443", ["*"]),
  subscriptionRole("Reader", "2414bbcf-6497-4faf-8c65-045460748405", ["read"]),
  // Manages the account without access to its data: service properties, shares, access policies.
  role("Storage Account Contributor", "17d1049b-9a84-46fb-8f53-869881c3d3ab", ["*"], []),
];

/** The built-in roles by name and by id, both in lower case. */
export const builtInRolesByName: ReadonlyMap<string, RoleDefinition> = new Map(
  builtInRoles.flatMap((each) => [
    [each.name.toLowerCase(), each],
    [each.id ?? "", each],
  ]),
);
