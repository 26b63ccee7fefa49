import { beforeEach, describe, expect, it } from "vitest";
import { accountsOf, developmentAccount } from "../../src/account/settings.ts";
import { fileService } from "../../src/file/service.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { ok, type Result } from "../../src/protocol/result.ts";
import { simService, type SimService } from "../harness/sim-service.ts";
import { rulesFrom } from "./rules.ts";

const files = "Microsoft.Storage/storageAccounts/fileServices";
const writing = [`${files}/fileShares/files/write`, `${files}/writeFileBackupSemantics/action`];
const reading = [`${files}/fileShares/files/read`, `${files}/readFileBackupSemantics/action`];
const roles = { Writer: { dataActions: [...writing, ...reading] } };
const permission = { "x-ms-file-permission": "inherit" };
let caller: Principal;
let sim: SimService;

function assign(role: string): void {
  const rules = rulesFrom({ roleAssignments: [{ principal: "me", role }], roles });
  Object.assign(sim.http.accounts, accountsOf([{ ...developmentAccount(), roles: rules }]));
}

async function send(path: string, given: Record<string, string>) {
  const headers = { "x-ms-file-request-intent": "backup", ...given };
  const { status, code } = await sim.sendAs({ method: "PUT", path, headers });
  return code === undefined ? [status] : [status, code];
}

beforeEach(async () => {
  const authenticator = new Authenticator();
  authenticator.authenticate = (): Result<Principal> => ok(caller);
  sim = await simService(fileService, { authenticator });
  caller = keyPrincipal;
  await send("/share?restype=share", {});
  await send("/share/directory?restype=directory", {});
  await send("/share/file", { "x-ms-type": "file", "x-ms-content-length": "0" });
  caller = { kind: "bearer", objectId: "me", tenantId: "t" };
});

const source = { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/share/file" };

describe.each([
  ["Set File Properties", "/share/file?comp=properties", {}, 200],
  ["Set Directory Properties", "/share/directory?restype=directory&comp=properties", {}, 200],
  ["Copy File", "/share/copy", { ...source, "x-ms-file-permission-copy-mode": "override" }, 202],
])("%s", (_name, path, headers, status) => {
  it("needs the action that changes permissions if it sets one", async () => {
    assign("Writer");
    const refused = await send(path, { ...headers, ...permission });
    expect(refused).toEqual([403, "AuthorizationPermissionMismatch"]);
    assign("Storage File Data Privileged Contributor");
    expect(await send(path, { ...headers, ...permission })).toEqual([status]);
  });
});

it("properties other than the permission need only the action that writes", async () => {
  assign("Writer");
  expect(await send("/share/file?comp=properties", { "x-ms-file-attributes": "None" })).toEqual([
    200,
  ]);
  expect(await send("/share/copy", source)).toEqual([202]);
});
