import { request } from "node:http";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import type { AnyRoute, Route } from "../../src/admin/routes.ts";
import { accountSas } from "../harness/raw-client.ts";
import type { WireClient } from "../smb-wire/wire-client.ts";
import { adminHeaders, adminServer, type AdminServer } from "./admin-server.ts";
import { declaredRoutes } from "./admin-routes.ts";
import { EventStream } from "./event-stream.ts";
import { fillForeign, foreign } from "./foreign-account.ts";

const key = Buffer.alloc(64, 1).toString("base64");
const adminToken = "a token that is long enough";
const token = { Authorization: `Bearer ${adminToken}` };
const storedAccount = "foreignstored";
const subscription = "foreign-events";
const principal = "5a77d0e4-0000-4000-8000-000000000001";
const assignment = { principal, role: "Storage Blob Data Reader", account: foreign.account };
const toQueue = { destination: { queue: foreign.queue } };
let admin: AdminServer;
let smb: WireClient;
let own: { readonly Cookie: string };
let fileId = "";
let sessionId = "";
let assignmentId = "";

beforeAll(async () => {
  const accounts = { [foreign.account]: {}, mine: { keys: [key] } };
  admin = await adminServer({ accounts, adminToken, enableReset: true });
  smb = await fillForeign(admin.server.connectionString, admin.server.smbUrl);
  const stored = await admin.post("/admin/v1/accounts", { name: storedAccount }, token);
  expect(stored.status).toBe(201);
  const named = { name: storedAccount };
  expect((await admin.post("/admin/v1/principals", named, token)).status).toBe(201);
  const assigned = await admin.post("/admin/v1/role-assignments", assignment, token);
  assignmentId = ((await assigned.json()) as { readonly id: string }).id;
  const path = `/admin/v1/subscriptions/${foreign.account}/${subscription}`;
  const body = JSON.stringify(toQueue);
  expect(await send({ method: "PUT", path, body }, token)).toMatchObject({ status: 201 });
  const answer = await admin.post("/admin/v1/session", { account: "mine", key });
  expect(await answer.json()).toMatchObject({ loggedIn: true, account: "mine" });
  own = { Cookie: answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
  const open = (await (await admin.get("/admin/v1/smb", token)).json()) as SmbView;
  fileId = open.files[0]?.fileId ?? "";
  sessionId = open.sessions[0]?.id ?? "";
});
afterAll(async () => {
  smb.end();
  await admin[Symbol.asyncDispose]();
});

interface SmbView {
  readonly files: readonly { readonly fileId: string }[];
  readonly sessions: readonly { readonly id: string }[];
}

type Values = Readonly<Record<string, string | undefined>>;

const things: readonly Values[] = [
  { service: "blob", kind: "blob", container: foreign.container, path: foreign.path },
  { service: "blob", kind: "container", container: foreign.container, path: undefined },
  { service: "file", kind: "share", container: foreign.share, path: undefined },
  { service: "file", kind: "file", container: foreign.share, path: foreign.path },
  { service: "queue", kind: "blob", container: foreign.queue, path: undefined },
  {
    service: "table",
    kind: "blob",
    container: foreign.table,
    path: undefined,
    partitionKey: "p",
    rowKey: "r",
  },
];

/** A value for each parameter of any route. A new parameter must be added here. */
function samplesFor(thing: Values): Values {
  const none = { partitionKey: undefined, rowKey: undefined, principal: undefined };
  const page = { limit: "10", after: undefined, every: "60", seconds: "60" };
  const lease = { snapshot: undefined, periodSeconds: undefined };
  const file = { share: foreign.share, fileId, open: undefined };
  const created = { name: "created", keys: undefined, settings: undefined, adopt: undefined };
  const change = { key: undefined, force: "true", timeoutSeconds: undefined };
  const { account, queue } = foreign;
  const identity = { objectId: undefined, clientId: undefined, newSecret: undefined };
  const fields = { ...identity, secret: undefined, groups: undefined };
  const accounts = { account, ...created, ...change, ...fields };
  return { ...none, ...page, ...lease, ...file, ...accounts, queue, ...thing };
}

const names: Readonly<Record<string, string>> = {
  blob: foreign.container,
  queue: foreign.queue,
  table: foreign.table,
  file: foreign.share,
};

/** Bodies for routes that validate their own body. */
const bodies: Readonly<Record<string, readonly object[]>> = {
  "/admin/v1/sas": [
    { account: foreign.account },
    { kind: "account", account: foreign.account, permissions: "rwdl" },
    ...["blob", "file"].map((service) => ({
      kind: "service",
      account: foreign.account,
      service,
      container: foreign.container,
      permissions: "r",
    })),
  ],
  "/admin/v1/policies": ["blob", "queue", "table", "file"].map((service) => ({
    service,
    account: foreign.account,
    container: names[service],
    policies: [{ id: "read", permission: "r" }],
  })),
  "/admin/v1/reset": [{}],
  "/admin/v1/role-assignments": [{ ...assignment, container: foreign.container }],
  "/admin/v1/subscriptions/:account/:name": [toQueue],
};

function chosen(checks: Route["query"], samples: Values): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of Object.keys(checks ?? {})) {
    expect(Object.keys(samples), `a sample for the parameter ${name}`).toContain(name);
    const value = samples[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Every form of naming the foreign account in a request of a route, and the request without it. */
function attemptsOf(route: Route): readonly Attempt[] {
  const path = route.path
    .replace(":snapshot", "created")
    .replace(":account/:name", `${foreign.account}/${subscription}`)
    .replace(":name", route.access === "server" ? storedAccount : foreign.account)
    .replace("role-assignments/:id", `role-assignments/${assignmentId}`)
    .replace(":id", sessionId)
    .replace(":number", "1");
  expect(path, "a sample for each part of the path").not.toContain(":");
  const attempts: Attempt[] = [];
  for (const thing of things) {
    const query = new URLSearchParams(chosen(route.query, samplesFor(thing))).toString();
    const paths = query === "" ? [path] : [path, `${path}?${query}`];
    const given = route.body && [chosen(route.body, samplesFor(thing))];
    for (const body of given ?? bodies[route.path] ?? [{}]) {
      const text = route.method === "GET" ? undefined : JSON.stringify(body);
      attempts.push(...paths.map((each) => ({ method: route.method, path: each, body: text })));
    }
  }
  const unique = new Map(attempts.map((attempt) => [JSON.stringify(attempt), attempt]));
  return [...unique.values()];
}

async function send({ method, path, body }: Attempt, headers: Record<string, string>) {
  const answer = await fetch(admin.url + path, {
    method,
    headers: { ...adminHeaders, "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const parsed = text.startsWith("{") ? (JSON.parse(text) as { error?: { code: string } }) : {};
  return { status: answer.status, text, code: parsed.error?.code };
}

/** The state of the foreign account, which must not change. */
async function held(): Promise<unknown> {
  const views = ["leases", "smb", "messages"].map(async (name) => {
    const { text } = await send(
      { method: "GET", path: `/admin/v1/${name}`, body: undefined },
      token,
    );
    return text.replaceAll(/"(now|secondsLeft)":[^,}]*/g, "");
  });
  return Promise.all(views);
}

const isAnswered = (route: AnyRoute): route is Route => "answer" in route;
const routes = declaredRoutes();
const closed = routes.filter(isAnswered).filter(({ access }) => access !== "open");
const named = (route: AnyRoute): string => `${route.method} ${route.path}`;

describe("a session with the key of one account", () => {
  it("is tested against every route that requires a login", () => {
    const open = routes.filter(({ access }) => access === "open").map(named);
    expect(open).toEqual([
      "GET /healthz",
      "GET /readyz",
      "GET /admin/v1/session",
      "POST /admin/v1/session",
      "DELETE /admin/v1/session",
      "GET /identity/token",
      "GET /metadata/identity/oauth2/token",
      "* /:tenant/oauth2/v2.0/token",
      "* /:tenant/oauth2/token",
      "GET /:tenant/v2.0/.well-known/openid-configuration",
      "GET /:tenant/.well-known/openid-configuration",
      "GET /:tenant/discovery/v2.0/keys",
      "GET /common/discovery/instance",
    ]);
    // These routes write their own responses and are tested below.
    const raw = routes.filter((route) => !isAnswered(route) && route.access !== "open").map(named);
    expect(raw).toEqual([
      "GET /admin/v1/archive",
      "POST /admin/v1/archive",
      "GET /admin/v1/events",
      "GET /admin/v1/feed",
      "* /storage/:service/*",
    ]);
  });

  it("cannot read the events of another account", async () => {
    const path = `/admin/v1/events?account=${foreign.account}&after=0-0`;
    const answer = await send({ method: "GET", path, body: undefined }, own);
    expect(answer).toMatchObject({ status: 404, code: "AccountNotFound" });
  });

  it.each(["GET", "POST"])("cannot %s an archive", async (method) => {
    const archive = { method, path: "/admin/v1/archive", body: method === "GET" ? undefined : "x" };
    expect(await send(archive, own)).toMatchObject({ status: 403, code: tokenOnly });
    expect((await send(archive, token)).status).toBe(method === "GET" ? 200 : 415);
  });

  it.each(closed.map((route) => [named(route), route] as const))(
    "%s returns nothing of another account and changes nothing in it",
    async (_, route) => {
      const before = await held();
      for (const attempt of attemptsOf(route)) {
        const { status, text, code } = await send(attempt, own);
        const described = `${attempt.path} ${attempt.body}: ${status} ${text}`;
        if (!accountAccess.has(route.access))
          expect([status, code], described).toEqual([403, tokenOnly]);
        else if (status < 300) expect(text, described).not.toMatch(/foreign|devstoreaccount1/);
        else expect(refusals, described).toContain(code);
        expect(text, described).not.toContain(developmentAccountKey);
      }
      expect(await held()).toEqual(before);
    },
  );

  const accountAccess: ReadonlySet<string> = new Set(["account", "principal"]);
  const tokenOnly = "AdminTokenRequired";
  const refusals = ["AccountNotFound", "SessionNotFound", "InvalidInput"];

  it("receives feed events of its own account only", async () => {
    const kinds = "refused,lease,message,change";
    const stream = await EventStream.open(admin.url, kinds, own);
    const theirs = BlobServiceClient.fromConnectionString(admin.server.connectionString);
    const string = admin.server.connectionString
      .replaceAll(foreign.account, "mine")
      .replace(developmentAccountKey, key);
    const mine = BlobServiceClient.fromConnectionString(string);
    for (const name of ["one", "two", "three"]) {
      await theirs.createContainer(`foreign-${name}`);
      await theirs.createContainer(`foreign-${name}`).catch(() => undefined);
      await mine.createContainer(name);
    }
    for (const container of ["one", "two", "three"]) {
      expect(await stream.next("change")).toMatchObject({ account: "mine", container });
    }
    await mine.createContainer("three").catch(() => undefined);
    expect(await stream.next("refused")).toMatchObject({ account: "mine" });
    await stream.close();
    for (const path of ["/admin/v1/feed?kinds=health", "/admin/v1/health"]) {
      const { status, code } = await send({ method: "GET", path, body: undefined }, own);
      expect([status, code]).toEqual([403, tokenOnly]);
    }
  });

  const sas = accountSas();
  it.each([
    [`/storage/blob/${foreign.account}?comp=list&${sas}`, undefined],
    [`/storage/blob/${foreign.account}-secondary?comp=list&${sas}`, undefined],
    [`/storage/file/${foreign.account}/${foreign.share}/${foreign.path}?${sas}`, undefined],
    [`/storage/queue/${foreign.account}?comp=list&${sas}`, undefined],
    [`/storage/table/${foreign.account}/Tables?${sas}`, undefined],
    [`/storage/blob//${foreign.account}?comp=list&${sas}`, undefined],
    [`/storage/blob/?comp=list&${sas}`, `${foreign.account}.blob.localhost`],
    [`/storage/blob/mine?comp=list&${sas}`, `${foreign.account}.blob.localhost`],
    [`/storage/blob/http://x/${foreign.account}?comp=list&${sas}`, undefined],
  ])("the gateway forwards nothing to another account: %s at %s", async (path, host) => {
    const { status, text } = await rawGet(path, host);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain("foreign");
  });

  it("the gateway forwards a signed request to its own account", async () => {
    const body = JSON.stringify({ account: "mine" });
    const signed = await send({ method: "POST", path: "/admin/v1/sas", body }, own);
    const { query } = JSON.parse(signed.text) as { readonly query: string };
    const listed = await rawGet(`/storage/blob/mine?comp=list&${query}`, undefined);
    expect(listed.status).toBe(200);
  });
});

/** With a chosen Host header. */
function rawGet(path: string, host: string | undefined) {
  const headers = { ...adminHeaders, ...own, ...(host === undefined ? {} : { host }) };
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const sent = request(admin.url, { path, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Shows that the requests above would succeed if authorized. The reset comes last. */
describe("a session with the admin token", () => {
  const isReset = ({ path }: Route): boolean => path === "/admin/v1/reset";
  const ordered = [...closed.filter((route) => !isReset(route)), ...closed.filter(isReset)];
  it.each(ordered.map((route) => [named(route), route] as const))(
    "%s succeeds",
    async (_, route) => {
      const statuses: number[] = [];
      for (const attempt of attemptsOf(route)) statuses.push((await send(attempt, token)).status);
      expect(Math.min(...statuses)).toBeLessThan(300);
    },
  );
});
