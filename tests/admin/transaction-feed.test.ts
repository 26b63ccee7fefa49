import { TableClient } from "@azure/data-tables";
import { expect, it } from "vitest";
import { adminHeaders, adminServer, type AdminServer } from "./admin-server.ts";
import { EventStream } from "./event-stream.ts";

const adminToken = "a token that is long enough";
const account = "devstoreaccount1";
const secret = "a-secret-of-the-reader";
const identity = {
  principals: { reader: { objectId: "o1", secret } },
  roleAssignments: [{ principal: "reader", role: "Storage Table Data Reader" }],
};
const entities = "Microsoft.Storage/storageAccounts/tableServices/tables/entities";

/** A transaction of one operation. */
function transactionOf(method: string, path: string): string {
  const entity = JSON.stringify({ PartitionKey: "p", RowKey: "r", value: 1 });
  const lines = [
    "--batch",
    "Content-Type: multipart/mixed; boundary=changes",
    "",
    "--changes",
    "Content-Type: application/http",
    "Content-Transfer-Encoding: binary",
    "",
    `${method} http://127.0.0.1/${account}/${path} HTTP/1.1`,
    "Content-Type: application/json",
    "Accept: application/json;odata=nometadata",
    "",
    entity,
    "--changes--",
    "--batch--",
    "",
  ];
  return lines.join("\r\n");
}

async function sendAs(admin: AdminServer, cookie: string, body: string): Promise<string> {
  const answer = await fetch(`${admin.url}/storage/table/${account}/$batch`, {
    method: "POST",
    headers: {
      ...adminHeaders,
      cookie,
      "content-type": "multipart/mixed; boundary=batch",
    },
    body,
  });
  return answer.text();
}

it("a transaction that roles do not permit is rejected and names the missing role", async () => {
  await using admin = await adminServer({ identity, adminToken });
  const { connectionString } = admin.server;
  const options = { allowInsecureConnection: true };
  const table = TableClient.fromConnectionString(connectionString, "things", options);
  await table.createTable();
  const login = await admin.post("/admin/v1/session", { principal: "reader", secret });
  const cookie = login.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const authorization = `Bearer ${adminToken}`;
  const feed = await EventStream.open(admin.url, "refused,change", { authorization });
  const entity = "things(PartitionKey='p',RowKey='r')";
  const attempts = [
    ["POST", "things", "Insert Entity", [[`${entities}/write`], [`${entities}/add/action`]]],
    [
      "PUT",
      entity,
      "Insert Or Replace Entity",
      [[`${entities}/write`], [`${entities}/add/action`, `${entities}/update/action`]],
    ],
    ["DELETE", entity, "Delete Entity", [[`${entities}/delete`]]],
  ] as const;
  for (const [method, path, operation, actions] of attempts) {
    const answer = await sendAs(admin, cookie, transactionOf(method, path));
    expect(answer).toContain("AuthorizationPermissionMismatch");
    expect(await feed.next("refused")).toMatchObject({
      operation,
      status: 403,
      rule: "role",
      container: "things",
      caller: { kind: "bearer", objectId: "o1", name: "reader" },
      missing: { actions, roles: ["Storage Table Data Contributor"] },
    });
  }
  await feed.close();
});
