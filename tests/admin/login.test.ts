import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { fetchStatus } from "../../src/cli/status-command.ts";
import { readAdminAddress } from "../../src/server/admin-address.ts";
import { adminHeaders, adminServer, type AdminServer } from "./admin-server.ts";
import { EventStream } from "./event-stream.ts";

const account = "devstoreaccount1";
const adminToken = "a token that is long enough";
const key = (fill: number): string => Buffer.alloc(64, fill).toString("base64");

const cookieIn = (answer: Response): string =>
  answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";

async function codeIn(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { readonly error?: { readonly code: string } };
  return error?.code ?? "";
}

describe("with a required login", () => {
  let admin: AdminServer;
  beforeAll(async () => {
    admin = await adminServer({ adminToken, adminHost: "0.0.0.0" });
  });
  afterAll(() => admin[Symbol.asyncDispose]());
  const url = () => admin.url.replace("0.0.0.0", "127.0.0.1");
  const get = (path: string, headers = {}) =>
    fetch(url() + path, { headers: { ...adminHeaders, ...headers } });
  const logIn = (body: object) =>
    fetch(`${url()}/admin/v1/session`, {
      method: "POST",
      headers: { ...adminHeaders, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  const logOut = (cookie: string) =>
    fetch(`${url()}/admin/v1/session`, {
      method: "DELETE",
      headers: { ...adminHeaders, "Content-Type": "application/json", Cookie: cookie },
    });

  it("rejects every route except probes, the page and the login", async () => {
    for (const path of ["/healthz", "/readyz", "/", "/admin/v1/session"]) {
      expect((await get(path)).status, path).toBe(200);
    }
    const closed = ["/metrics", "/admin/v1/leases", "/admin/v1/feed", "/storage/blob/x"];
    for (const path of closed) {
      const answer = await get(path);
      expect(answer.status, path).toBe(401);
      expect(await answer.text()).toContain("LoginRequired");
    }
  });

  it("accepts the admin token and no other", async () => {
    const bearer = (token: string, path = "/metrics") =>
      get(path, { Authorization: `Bearer ${token}` });
    expect((await bearer(adminToken)).status).toBe(200);
    expect((await bearer(adminToken, "/admin/v1/health")).status).toBe(200);
    expect((await bearer(`${adminToken}!`)).status).toBe(401);
    const bare = await fetch(`${url()}/admin/v1/health`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
    expect([bare.status, await codeIn(bare)]).toEqual([403, "HeaderRequired"]);
  });

  it.each([
    ["a key of an account", { account, key: developmentAccountKey }],
    ["the token", { token: adminToken }],
  ])("%s opens a session, which a logout ends", async (_, proof) => {
    const answer = await logIn(proof);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toMatch(/; HttpOnly; SameSite=Strict/);
    const cookie = cookieIn(answer);
    const inside = () => fetch(`${url()}/admin/v1/leases`, { headers: { Cookie: cookie } });
    expect((await inside()).status).toBe(200);
    const altered = cookie.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    expect((await get("/admin/v1/leases", { Cookie: altered })).status).toBe(401);
    // Each use extends a session by 30 minutes, up to 12 hours in total.
    for (let uses = 0; uses < 35; uses += 1) {
      admin.clock.skip(20 * 60);
      expect((await inside()).status).toBe(200);
    }
    admin.clock.skip(20 * 60);
    expect((await inside()).status).toBe(403);
    expect((await get("/admin/v1/leases", { Cookie: cookie })).status).toBe(401);
    const next = cookieIn(await logIn(proof));
    admin.clock.skip(31 * 60);
    expect((await get("/admin/v1/leases", { Cookie: next })).status).toBe(401);
  });

  it("a logout ends the session, all copies of its cookie and its streams", async () => {
    const cookie = cookieIn(await logIn({ token: adminToken }));
    const other = cookieIn(await logIn({ token: adminToken }));
    const stream = await EventStream.open(url(), "", { Cookie: cookie });
    const left = await logOut(cookie);
    expect([left.status, left.headers.get("set-cookie")]).toEqual([
      204,
      expect.stringContaining("Max-Age=0"),
    ]);
    expect((await get("/admin/v1/leases", { Cookie: cookie })).status).toBe(401);
    expect(await (await get("/admin/v1/session", { Cookie: cookie })).json()).toMatchObject({
      loggedIn: false,
    });
    expect(await stream.ended()).toBe("ended");
    expect((await get("/admin/v1/leases", { Cookie: other })).status).toBe(200);
  });

  it("a login link works once and expires after an hour", async () => {
    const tokenOf = (link: string): string => /\/#login=([0-9a-f]{64})$/.exec(link)?.[1] ?? "";
    const link = tokenOf(admin.server.explorerLink());
    const late = tokenOf(admin.server.explorerLink());
    const answer = await logIn({ link });
    expect(answer.status).toBe(200);
    const cookie = cookieIn(answer);
    expect((await get("/admin/v1/health", { Cookie: cookie })).status).toBe(200);
    expect((await logIn({ link })).status).toBe(401);
    admin.clock.skip(3600);
    expect((await logIn({ link: late })).status).toBe(401);
  });

  it("the gateway requires the login and the service's own authorization", async () => {
    const bearer = { Authorization: `Bearer ${adminToken}`, "x-ms-version": "2023-11-03" };
    const list = `/storage/blob/${account}?comp=list`;
    const unsigned = await get(list, bearer);
    expect(unsigned.headers.get("x-ms-error-code")).toBe("NoAuthenticationInformation");
    const signed = await fetch(`${url()}/admin/v1/sas`, {
      method: "POST",
      headers: { ...adminHeaders, ...bearer, "Content-Type": "application/json" },
      body: JSON.stringify({ account }),
    });
    const { query } = (await signed.json()) as { readonly query: string };
    expect((await get(`${list}&${query}`)).status).toBe(401);
    expect((await get(`${list}&${query}`, bearer)).status).toBe(200);
  });

  it("a login without credentials does not count as a failed attempt", async () => {
    admin.clock.skip(120);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await logIn({ token: null, account, key: null })).status).toBe(400);
    }
    expect((await logIn({ token: adminToken })).status).toBe(200);
  });

  it("failed logins are delayed", async () => {
    admin.clock.skip(120);
    const wrong = [
      { token: "wrong" },
      { account, key: "wrong" },
      { account: "unknown", key: "" },
      { account, key: "" },
      { account: "unknown", key: "wrong" },
      { link: "wrong" },
    ];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await logIn(wrong[attempt % wrong.length] ?? {})).status).toBe(401);
    }
    const answer = await logIn({ token: adminToken });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(50);
    admin.clock.skip(61);
    expect((await logIn({ token: adminToken })).status).toBe(200);
  });
});

describe("on a loopback address", () => {
  it.each([
    ["an account of its own", { mine: { keys: [key(1)] } }, true],
    ["the published key under another name", { mine: { keys: [developmentAccountKey] } }, true],
    ["a second key", { [account]: { keys: [developmentAccountKey, key(1)] } }, true],
    ["a key of its own", { [account]: { keys: [key(1)] } }, true],
    ["other settings of the development account", { [account]: { versioning: true } }, false],
  ])("%s: a login is required if a secret is configured", async (_, accounts, isRequired) => {
    await using admin = await adminServer({ accounts });
    const session = await admin.json("/admin/v1/session");
    expect(session).toMatchObject({ loginRequired: isRequired, loggedIn: !isRequired });
    const [name = ""] = Object.keys(accounts);
    for (const path of ["/admin/v1/accounts", `/admin/v1/accounts/${name}/key`]) {
      expect((await admin.get(path)).status).toBe(isRequired ? 401 : 200);
    }
    expect((await admin.get("/metrics")).status).toBe(200);
  });

  it("reloading the accounts changes the login requirement and ends sessions of removed accounts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "etagere-login-"));
    const config = join(folder, "config.json");
    const write = (accounts: object) => writeFileSync(config, JSON.stringify({ accounts }));
    write({ [account]: {} });
    await using admin = await adminServer({ config });
    const stream = await EventStream.open(admin.url);
    write({ [account]: {}, mine: { keys: [key(1)] } });
    await admin.server.reload();
    expect(await stream.ended()).toBe("ended");
    expect((await admin.get("/admin/v1/accounts")).status).toBe(401);
    const answer = await admin.post("/admin/v1/session", { account: "mine", key: key(1) });
    const cookie = { Cookie: cookieIn(answer) };
    expect((await admin.get("/admin/v1/accounts", cookie)).status).toBe(200);
    write({ [account]: {}, mine: { keys: [key(2)] } });
    await admin.server.reload();
    expect((await admin.get("/admin/v1/accounts", cookie)).status).toBe(401);
    rmSync(folder, { recursive: true, force: true });
  });

  it("the token file in the data folder grants access", async () => {
    const location = mkdtempSync(join(tmpdir(), "etagere-login-"));
    writeFileSync(join(location, "admin.json"), "{}", { mode: 0o644 });
    const admin = await adminServer({ location, accounts: { mine: { keys: [key(1)] } } });
    const found = await readAdminAddress(location);
    expect(statSync(join(location, "admin.json")).mode & 0o777).toBe(0o600);
    await expect(fetchStatus({ url: admin.url })).rejects.toThrow("log in first");
    expect(await fetchStatus({ url: admin.url, token: found?.token })).toMatchObject({
      leases: { leases: [] },
    });
    await admin[Symbol.asyncDispose]();
    rmSync(location, { recursive: true, force: true });
  });
});
