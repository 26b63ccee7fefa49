import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminHeaders, adminServer, type AdminServer } from "./admin-server.ts";

const account = "devstoreaccount1";

/** `fetch` does not allow setting the headers that a browser sends. */
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

describe("with the development account alone, on a loopback address", () => {
  let admin: AdminServer;
  beforeAll(async () => {
    admin = await adminServer();
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  it("requires no login", async () => {
    expect((await admin.get("/admin/v1/leases")).status).toBe(200);
    const session = await admin.json("/admin/v1/session");
    expect(session).toEqual({ loginRequired: false, loggedIn: true, methods: ["key"] });
    expect(admin.server.explorerLink()).toBe(`${admin.url}/`);
  });

  const guarded = ["/admin/v1/leases", `/admin/v1/accounts/${account}/key`, "/storage/blob/x"];

  it.each(guarded)(
    "%s requires a header that neither HTML forms nor copy sources send",
    async (path) => {
      for (const headers of [{}, { authorization: "Bearer x" }, { cookie: "etagere-session=1" }]) {
        const answer = await raw(admin.url + path, headers);
        expect([answer.status, answer.text]).toEqual([
          403,
          expect.stringContaining("HeaderRequired"),
        ]);
      }
      for (const headers of [adminHeaders, { "sec-fetch-site": "same-origin" }]) {
        expect((await raw(admin.url + path, headers)).text).not.toContain("HeaderRequired");
      }
    },
  );

  it.each([...guarded, "/metrics"])(
    "%s rejects requests from pages of other origins",
    async (path) => {
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
        const answer = await raw(admin.url + path, { ...adminHeaders, ...headers });
        expect(answer.status, JSON.stringify(headers)).toBe(403);
        expect(answer.text).toContain("CrossSite");
      }
    },
  );

  it.each([...guarded, "/metrics"])(
    "%s rejects host names that resolve to this server (DNS rebinding)",
    async (path) => {
      const others = ["evil.example:10004", "127.0.0.1.evil.example", "localhost.evil.example"];
      for (const host of others) {
        const answer = await raw(admin.url + path, { ...adminHeaders, host });
        expect(answer.status, host).toBe(421);
      }
      for (const host of ["localhost", "127.0.0.1:1", "[::1]:10004", "etagere.localhost"]) {
        const { status } = await raw(admin.url + path, { ...adminHeaders, host });
        expect(status, host).not.toBe(421);
      }
    },
  );

  it("metrics need no header, because scrapers cannot send one", async () => {
    expect((await raw(`${admin.url}/metrics`, {})).status).toBe(200);
  });

  it.each([...guarded, "/metrics", "/healthz", "/"])("%s cannot be a copy source", async (path) => {
    const answer = await raw(admin.url + path, { ...adminHeaders, "x-etagere-source": "1" });
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("CopySource")]);
  });

  it("a change must be sent as JSON, which an HTML form cannot do", async () => {
    const path = `${admin.url}/admin/v1/sas`;
    const plain = await raw(path, { ...adminHeaders, "content-type": "text/plain" }, "POST");
    expect(plain.status).toBe(415);
    const json = await raw(path, { ...adminHeaders, "content-type": "application/json" }, "POST");
    expect(json.status).toBe(400);
  });

  it("rejects methods that a path does not support", async () => {
    expect((await raw(`${admin.url}/admin/v1/leases`, adminHeaders, "POST")).status).toBe(405);
    expect((await raw(`${admin.url}/admin/v1/nothing`, adminHeaders)).status).toBe(404);
  });
});
