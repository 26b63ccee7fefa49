import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { adminServer, type AdminServer } from "./admin-server.ts";

const account = "devstoreaccount1";
const adminToken = "a token that is long enough";

/** `fetch` does not let a program say what a browser would. */
function raw(
  url: string,
  headers: Record<string, string>,
  method = "GET",
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end(method === "GET" ? undefined : "{}");
  });
}

describe("on a loopback address", () => {
  let admin: AdminServer;
  beforeAll(async () => {
    admin = await adminServer();
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  it("nobody has to log in", async () => {
    expect((await admin.get("/admin/v1/leases")).status).toBe(200);
    const session = await admin.json("/admin/v1/session");
    expect(session).toEqual({ loginRequired: false, loggedIn: true, methods: ["key"] });
  });

  const guarded = ["/admin/v1/leases", `/admin/v1/accounts/${account}/key`, "/storage/blob/x"];

  it.each(guarded)("%s is closed to pages of other sites", async (path) => {
    const own = { origin: admin.url, "sec-fetch-site": "same-origin" };
    expect((await raw(admin.url + path, own)).status).not.toBe(403);
    const others = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://example.com" },
      { origin: "null" },
      { origin: admin.url.replace(/:\d+$/, ":1") },
    ];
    for (const headers of others) {
      const answer = await raw(admin.url + path, headers);
      expect(answer.status, JSON.stringify(headers)).toBe(403);
      expect(answer.text).toContain("CrossSite");
    }
  });

  it.each(guarded)("%s is closed to names that somebody's DNS points here", async (path) => {
    for (const host of ["evil.example:10004", "127.0.0.1.evil.example", "localhost.evil.example"]) {
      const answer = await raw(admin.url + path, { host });
      expect(answer.status, host).toBe(421);
    }
    for (const host of ["localhost", "127.0.0.1:1", "[::1]:10004", "etagere.localhost"]) {
      expect((await raw(admin.url + path, { host })).status, host).not.toBe(421);
    }
  });

  it("what changes something must be sent as JSON, which no form can", async () => {
    const path = `${admin.url}/admin/v1/sas`;
    const plain = await raw(path, { "content-type": "text/plain" }, "POST");
    expect(plain.status).toBe(415);
    const json = await raw(path, { "content-type": "application/json" }, "POST");
    expect(json.status).toBe(400);
  });

  it("methods that a path does not have are refused", async () => {
    expect((await raw(`${admin.url}/admin/v1/leases`, {}, "POST")).status).toBe(405);
    expect((await raw(`${admin.url}/admin/v1/nothing`, {})).status).toBe(404);
  });
});

describe("where a login is required", () => {
  let admin: AdminServer;
  beforeAll(async () => {
    admin = await adminServer({ adminToken, adminHost: "0.0.0.0" });
  });
  afterAll(() => admin[Symbol.asyncDispose]());
  const url = () => admin.url.replace("0.0.0.0", "127.0.0.1");
  const get = (path: string, headers = {}) => fetch(url() + path, { headers });
  const logIn = (body: object) =>
    fetch(`${url()}/admin/v1/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  it("everything but probes, the page and the login is closed", async () => {
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

  it("the token opens it to scripts, and no other does", async () => {
    const bearer = (token: string) => get("/metrics", { Authorization: `Bearer ${token}` });
    expect((await bearer(adminToken)).status).toBe(200);
    expect((await bearer(`${adminToken}!`)).status).toBe(401);
  });

  it.each([
    ["a key of an account", { account, key: developmentAccountKey }],
    ["the token", { token: adminToken }],
  ])("%s opens a session, which ends", async (_, proof) => {
    const answer = await logIn(proof);
    expect(answer.status).toBe(200);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict/);
    const [value = ""] = cookie.split(";", 1);
    const inside = () => get("/admin/v1/leases", { Cookie: value });
    expect((await inside()).status).toBe(200);
    const altered = value.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    expect((await get("/admin/v1/leases", { Cookie: altered })).status).toBe(401);
    admin.clock.skip(20 * 60);
    const renewed = (await inside()).headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    expect(renewed).not.toBe("");
    admin.clock.skip(20 * 60);
    expect((await inside()).status).toBe(401);
    expect((await get("/admin/v1/leases", { Cookie: renewed })).status).toBe(200);
    admin.clock.skip(31 * 60);
    expect((await get("/admin/v1/leases", { Cookie: renewed })).status).toBe(401);
  });

  it("the gateway asks for the login and for the service's own rights", async () => {
    const bearer = { Authorization: `Bearer ${adminToken}`, "x-ms-version": "2023-11-03" };
    const list = `/storage/blob/${account}?comp=list`;
    const unsigned = await get(list, bearer);
    expect(unsigned.headers.get("x-ms-error-code")).toBe("NoAuthenticationInformation");
    const signed = await fetch(`${url()}/admin/v1/sas`, {
      method: "POST",
      headers: { ...bearer, "Content-Type": "application/json" },
      body: JSON.stringify({ account }),
    });
    const { query } = (await signed.json()) as { readonly query: string };
    expect((await get(`${list}&${query}`)).status).toBe(401);
    expect((await get(`${list}&${query}`, bearer)).status).toBe(200);
  });

  it("whoever gives nothing has not guessed", async () => {
    admin.clock.skip(120);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await logIn({ token: null, account, key: null })).status).toBe(400);
    }
    expect((await logIn({ token: adminToken })).status).toBe(200);
  });

  it("whoever guesses has to wait", async () => {
    admin.clock.skip(120);
    const wrong = [
      { token: "wrong" },
      { account, key: "wrong" },
      { account: "nobody", key: "" },
      { account, key: "" },
      { account: "nobody", key: "wrong" },
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
