import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { start, type EtagereServer } from "../../src/index.ts";
import { adminToken, callAccounts } from "../accounts/account-servers.ts";
import { adminHeaders } from "../admin/admin-server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";
import { storageStatus } from "./storage-status.ts";
import { unsignedToken } from "./unsigned-token.ts";

const { folder: certificates, cert, key, ca } = makeCertificate();
const folder = temporaryFolder();
const auditLog = join(folder, "audit.log");
const reader = "Storage Blob Data Reader";
const contributor = "Storage Blob Data Contributor";
const principals = {
  configured: { objectId: "o1", clientId: "c1", groups: ["team"] },
  // It may do all that roles can permit.
  powerful: { objectId: "o2", secret: "a-secret-of-the-powerful" },
};
const roleAssignments = [
  { principal: "powerful", role: "Storage Blob Data Owner" },
  { principal: "powerful", role: "Storage Account Contributor" },
];
const admin = { authorization: `Bearer ${adminToken}` };
let server: EtagereServer;
/** Another server of the same data folder, through which nothing is changed. */
let other: EtagereServer;
let tenant = "";

beforeAll(async () => {
  const identity = { principals, roleAssignments };
  const location = join(folder, "data");
  const options = { port: 0, cert, key, location, adminToken, identity } as const;
  server = await start({ ...options, auditLog });
  other = await start(options);
  const headers = { ...adminHeaders, ...admin };
  const path = "/admin/v1/identity/environment?principal=powerful";
  const environment = await fetch(server.adminUrl + path, { headers });
  const { variables } = (await environment.json()) as { variables: Record<string, string> };
  tenant = variables["AZURE_TENANT_ID"] ?? "";
});
afterAll(async () => {
  await other.stop();
  await server.stop();
  rmSync(certificates, { recursive: true, force: true });
});

/** The fields of any response. */
interface Answer extends Partial<Created>, Partial<Listed> {
  readonly error?: { readonly code: string };
  readonly id?: string;
}

async function call(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = admin,
): Promise<{ readonly status: number; readonly body: Answer }> {
  const response = await fetch(`${server.adminUrl}/admin/v1/${path}`, {
    method,
    headers: { ...adminHeaders, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Answer };
}

interface Created {
  readonly name: string;
  readonly objectId: string;
  readonly clientId: string;
  readonly secret?: string;
}

async function create(name: string, more: object = {}): Promise<Created> {
  const created = await call("POST", "principals", { name, newSecret: true, ...more });
  expect(created.status).toBe(201);
  return created.body as Created;
}

const assign = (principal: string, role: string, more: object = {}) =>
  call("POST", "role-assignments", { principal, role, ...more });

interface Listed {
  readonly rolesDecide: boolean;
  readonly principals: readonly (Created & { source: string; hasSecret: boolean })[];
  readonly assignments: readonly { id?: string; objectId: string; account?: string }[];
  readonly ignored: readonly { kind: string; id: string; problem: string }[];
}

const listed = async (): Promise<Listed> => (await call("GET", "identity")).body as Listed;

async function clear(): Promise<void> {
  for (const { name, source } of (await listed()).principals) {
    if (source !== "stored") continue;
    expect((await call("DELETE", `principals/${encodeURIComponent(name)}`)).status).toBe(204);
  }
  for (const { id } of (await listed()).assignments) {
    if (id !== undefined) expect((await call("DELETE", `role-assignments/${id}`)).status).toBe(204);
  }
}
afterEach(clear);

/** The response of the token service of a server. No other request to its admin listener precedes
 *  it, which would read the stored principals again. */
async function requestToken(at: EtagereServer, { clientId, secret }: Answer) {
  const response = await fetch(`${at.adminUrl}/${tenant}/oauth2/v2.0/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId ?? "",
      client_secret: secret ?? "",
      scope: "https://storage.azure.com/.default",
    }),
  });
  return (await response.json()) as { access_token?: string; error?: string };
}

const tokenOf = async (at: EtagereServer, principal: Answer): Promise<string> =>
  (await requestToken(at, principal)).access_token ?? "";

const list = (at: EtagereServer, token: string, account = "devstoreaccount1") =>
  storageStatus(at, { ca, token, account, path: "/?comp=list" });

describe("a stored principal", () => {
  it("gets a token from every process, and its roles apply in every process at once", async () => {
    const principal = await create("Report reader, nightly");
    const token = await tokenOf(other, principal);
    expect(await list(other, token)).toBe(403);
    const assigned = await assign(principal.name, reader, { account: "devstoreaccount1" });
    expect(assigned.status).toBe(201);
    expect(await list(other, token)).toBe(200);
    const put = { ca, token, method: "PUT", path: "/made?restype=container" };
    expect(await storageStatus(other, put)).toBe(403);
    expect((await call("DELETE", `role-assignments/${assigned.body.id}`)).status).toBe(204);
    expect(await list(other, token)).toBe(403);
    expect(await list(server, token)).toBe(403);
  });

  it("ends in every process with its tokens and its role assignments", async () => {
    const principal = await create("brief");
    await assign("brief", contributor);
    const token = await tokenOf(server, principal);
    expect(await list(other, token)).toBe(200);
    await call("DELETE", "principals/brief");
    expect(await list(other, token)).toBe(401);
    expect((await listed()).assignments.filter(({ id }) => id !== undefined)).toEqual([]);
    const { objectId, clientId, secret } = principal;
    const again = await create("brief", { objectId, clientId, secret, newSecret: false });
    expect(await list(other, await tokenOf(server, again))).toBe(403);
  });

  it("changes its secret and groups; the old secret ends in every process", async () => {
    const principal = await create("rotated");
    await assign("team", reader);
    const path = "principals/rotated";
    const changed = await call("PATCH", path, { newSecret: true, groups: ["team"] });
    expect(changed.body.secret).not.toBe(principal.secret);
    expect(await requestToken(other, principal)).toMatchObject({ error: "invalid_client" });
    const token = await tokenOf(other, changed.body);
    expect(await list(other, token)).toBe(200);
    await call("PATCH", path, { groups: null });
    expect(await list(other, token)).toBe(403);
    const { body } = await call("PATCH", path, { secret: null });
    expect(body).toMatchObject({ hasSecret: false, objectId: principal.objectId });
    expect(await requestToken(other, changed.body)).toMatchObject({ error: "invalid_client" });
  });

  it("shows its secret only when it is set", async () => {
    const { secret = "" } = await create("quiet", { secret: "chosen-by-the-administrator" });
    expect(secret).toHaveLength(43);
    expect(JSON.stringify(await listed())).not.toContain(secret);
    const { body } = await call("PATCH", "principals/quiet", { groups: ["team"] });
    expect(body).not.toHaveProperty("secret");
  });

  it("survives a restart", async () => {
    const identity = { principals, roleAssignments };
    const location = join(folder, "restarted");
    const options = { port: 0, cert, key, location, adminToken } as const;
    const first = await start({ ...options, identity });
    const headers = { ...adminHeaders, ...admin, "content-type": "application/json" };
    const post = (at: EtagereServer, path: string, body: object) =>
      fetch(`${at.adminUrl}/admin/v1/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
    await post(first, "principals", { name: "kept", objectId: "o7" });
    await post(first, "role-assignments", { principal: "kept", role: reader });
    await first.stop();
    // The configuration has taken the object id meanwhile.
    const taken = { ...principals, newcomer: { objectId: "O7" } };
    await using second = await start({ ...options, identity: { principals: taken } });
    const view = await fetch(`${second.adminUrl}/admin/v1/identity`, { headers });
    const { ignored, assignments } = (await view.json()) as Listed;
    expect(ignored).toEqual([
      { kind: "principal", id: "kept", problem: 'principal "kept": another has "o7"' },
    ]);
    expect(assignments.at(-1)).toMatchObject({ objectId: "o7", principal: "newcomer" });
  });
});

describe("rejected", () => {
  it.each([
    ["the name of a configured principal", { name: "Configured" }, "PrincipalAlreadyExists"],
    ["the name of the developer identity", { name: "developer" }, "PrincipalAlreadyExists"],
    ["the object id of another", { name: "x", objectId: "O1" }, "PrincipalAlreadyExists"],
    ["the client id of another as its object id", { objectId: "C1" }, "PrincipalAlreadyExists"],
    ["the object id of another as its name", { name: "O2" }, "PrincipalAlreadyExists"],
    ["the object id of another as its client id", { clientId: "o2" }, "PrincipalAlreadyExists"],
    ["a group as its object id", { objectId: "TEAM" }, "InvalidInput"],
    ["another principal as its group", { groups: ["team", "o2"] }, "InvalidInput"],
    ["a short secret", { secret: "short" }, "InvalidInput"],
    ["a secret with spaces", { secret: "a secret with some spaces" }, "InvalidInput"],
    ["a name of spaces", { name: "  " }, "InvalidInput"],
    ["a name with a line feed", { name: "a\nb" }, "InvalidInput"],
    ["a long name", { name: "n".repeat(129) }, "InvalidInput"],
    ["an id that is no text", { objectId: 7 }, "InvalidInput"],
    ["groups that are no list", { groups: "team" }, "InvalidInput"],
    ["an unknown field", { isAdmin: true }, "InvalidInput"],
  ])("a principal with %s", async (_, fields, code) => {
    const { status, body } = await call("POST", "principals", { name: "attempt", ...fields });
    expect([body.error?.code, status < 500]).toEqual([code, true]);
    expect((await listed()).principals.map(({ source }) => source)).not.toContain("stored");
  });

  it.each([
    ["an unknown role", { principal: "o1", role: "Owner" }],
    ["an unknown principal", { principal: "unknown", role: reader }],
    ["a name with a space that is no principal", { principal: "un known", role: reader }],
    ["an unknown account", { principal: "o1", role: reader, account: "later" }],
    ["two scopes", { principal: "o1", role: reader, container: "a", queue: "b" }],
    ["no role", { principal: "o1" }],
    ["an unknown field", { principal: "o1", role: reader, scope: "/" }],
  ])("a role assignment with %s", async (_, fields) => {
    const { status, body } = await call("POST", "role-assignments", fields);
    expect([status, body.error?.code]).toEqual([400, "InvalidInput"]);
  });

  it("the same role assignment twice, and changes of the configuration", async () => {
    expect((await assign("configured", reader)).status).toBe(201);
    const again = await assign("O1", reader.toUpperCase());
    expect(again.body.error?.code).toBe("RoleAssignmentAlreadyExists");
    for (const method of ["PATCH", "DELETE"]) {
      const { status, body } = await call(method, "principals/configured", {});
      expect([status, body.error?.code]).toEqual([409, "PrincipalIsConfigured"]);
      expect((await call(method, "principals/none", {})).status).toBe(404);
    }
    expect((await call("DELETE", "role-assignments/none")).status).toBe(404);
  });

  it("two principals with one object id that are created at once", async () => {
    const attempts = Array.from({ length: 8 }, (_each, at) =>
      call("POST", "principals", { name: `twin ${at}`, objectId: "same" }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(7);
  });
});

const changes: readonly (readonly [string, string, object?])[] = [
  ["POST", "principals", { name: "mine", newSecret: true }],
  ["PATCH", "principals/victim", { newSecret: true, groups: ["team"] }],
  ["DELETE", "principals/victim"],
  ["POST", "role-assignments", { principal: "powerful", role: contributor }],
  ["POST", "role-assignments", { principal: "o2", role: reader, account: "devstoreaccount1" }],
  ["DELETE", "role-assignments/x"],
];

describe("a caller without the admin token", () => {
  it("can neither give itself rights nor change others", async () => {
    await create("victim");
    const { secret } = principals.powerful;
    const login = { principal: "powerful", secret };
    const session = await fetch(`${server.adminUrl}/admin/v1/session`, {
      method: "POST",
      headers: { ...adminHeaders, "content-type": "application/json" },
      body: JSON.stringify(login),
    });
    const Cookie = session.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const token = await tokenOf(server, { clientId: "o2", secret });
    expect(await list(server, token)).toBe(200);
    const before = await listed();
    const callers: readonly (readonly [Record<string, string>, number])[] = [
      [{ Cookie }, 403],
      [{ authorization: `Bearer ${token}` }, 401],
      [{}, 401],
    ];
    for (const [headers, expected] of callers) {
      for (const [method, path, body] of changes) {
        const { status } = await call(method, path, body, headers);
        expect([method, path, status]).toEqual([method, path, expected]);
      }
    }
    expect(await listed()).toEqual(before);
  });
});

it("the audit log has the changes without secrets", async () => {
  const { secret = "" } = await create("audited one");
  await call("DELETE", "principals/audited%20one");
  await expect
    .poll(() => readFileSync(auditLog, "utf8"))
    .toContain('"resource":"/admin/v1/principals/audited%20one"');
  const text = readFileSync(auditLog, "utf8");
  expect(text).toContain('"operation":"/admin/v1/principals"');
  expect(text).not.toContain(secret);
});

it("a deleted account takes its role assignments with it", async () => {
  const principal = await create("visitor");
  const token = await tokenOf(server, principal);
  await callAccounts(server, "POST", "", { name: "passing" });
  await assign("visitor", reader, { account: "passing" });
  expect(await list(other, token, "passing")).toBe(200);
  expect((await callAccounts(server, "DELETE", "/passing")).status).toBe(204);
  await callAccounts(server, "POST", "", { name: "passing" });
  expect(await list(other, token, "passing")).toBe(403);
  await callAccounts(server, "DELETE", "/passing");
});

it("an archive has the role assignments of its account, for an account that it creates", async () => {
  const principal = await create("archivist");
  const token = await tokenOf(server, principal);
  await callAccounts(server, "POST", "", { name: "archived" });
  await callAccounts(server, "POST", "", { name: "present" });
  await assign("archivist", reader, { account: "archived" });
  const file = join(folder, "one.etagere");
  await server.export(file, { accounts: ["archived"] });
  await server.load(file, { as: "copied" });
  await server.load(file, { as: "present" });
  expect(await list(other, token, "copied")).toBe(200);
  expect(await list(other, token, "present")).toBe(403);
  for (const name of ["archived", "copied", "present"]) {
    expect((await callAccounts(server, "DELETE", `/${name}?force=true`)).status).toBe(204);
  }
});

it("roles decide from the first stored principal on, also after the last is deleted", async () => {
  const options = { port: 0, inMemoryPersistence: true, oauth: "basic", cert, key } as const;
  await using basic = await start(options);
  const token = unsignedToken("o9");
  const headers = { ...adminHeaders, "content-type": "application/json" };
  expect(await list(basic, token)).toBe(200);
  const path = `${basic.adminUrl}/admin/v1/principals`;
  const body = JSON.stringify({ name: "only" });
  expect((await fetch(path, { method: "POST", headers, body })).status).toBe(201);
  expect(await list(basic, token)).toBe(403);
  expect((await fetch(`${path}/only`, { method: "DELETE", headers })).status).toBe(204);
  expect(await list(basic, token)).toBe(403);
});
