import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminHeaders, adminServer, type AdminServer } from "./admin-server.ts";

const noCredentials = "account and key, token, principal and secret, or bearer are missing";
const account = "devstoreaccount1";
const tooLong = "x".repeat(2049);
/** Half of a surrogate pair. */
const half = "\ud83d";
let admin: AdminServer;

beforeAll(async () => {
  admin = await adminServer();
});
afterAll(() => admin[Symbol.asyncDispose]());

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

async function send(method: string, path: string, body?: string, type = "application/json") {
  const headers = { ...adminHeaders, "Content-Type": type };
  const sent = body === undefined ? { method, headers } : { method, headers, body };
  const answer = await fetch(admin.url + path, sent);
  const refusal = method === "HEAD" ? undefined : ((await answer.json()) as Refusal);
  return { status: answer.status, allow: answer.headers.get("allow"), ...refusal?.error };
}

const reads = ["server", `accounts/${account}/key`, "leases", "smb", "messages"];
const views = [...reads, "timeline", "health", "feed"].map((name) => `/admin/v1/${name}`);
const actions = ["sas", "leases/break", "smb/close", "smb/sessions/1/close", "session"].map(
  (name) => `/admin/v1/${name}`,
);

describe("malformed requests", () => {
  it.each(views)("%s is answered with the allowed methods", async (path) => {
    const allow = path.endsWith("feed") ? "GET" : "GET, HEAD";
    const message = `${path} takes ${allow}, not POST`;
    const posted = await send("POST", path, "{}");
    expect(posted).toEqual({ status: 405, allow, code: "MethodNotAllowed", message });
  });

  it.each(actions)("%s is answered with the required content type", async (path) => {
    const allow = path.endsWith("session") ? "GET, HEAD, POST, DELETE" : "POST";
    expect(await send("PUT", path, "{}")).toMatchObject({
      status: 405,
      allow,
      message: `${path} takes ${allow}, not PUT`,
    });
    expect(await send("POST", path, "{}", "text/plain")).toMatchObject({
      status: 415,
      message: "Content-Type must be application/json, not text/plain, also without a body",
    });
    expect(await send("POST", path, "{ nonsense")).toMatchObject({
      status: 400,
      code: "InvalidInput",
      message: expect.stringMatching(/^the body is not valid JSON: ./),
    });
    for (const body of ["[]", "null", "1"]) {
      expect(await send("POST", path, body)).toMatchObject({
        status: 400,
        message: 'the body must be a JSON object: { "name": … }',
      });
    }
    expect(await send("POST", path, JSON.stringify({ a: "x".repeat(65_536) }))).toMatchObject({
      status: 413,
      message: "the body is longer than 65536 bytes",
    });
    expect(await send("POST", path, '{ "nonsense": 1 }')).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^"nonsense" is unknown: (accepted are|no parameters) /),
    });
  });

  it.each(views)("%s rejects an unknown parameter", async (path) => {
    expect(await send("GET", `${path}?limt=1`)).toMatchObject({
      status: 400,
      code: "InvalidInput",
      message: expect.stringMatching(/^"limt" is unknown: (accepted are|no parameters) /),
    });
  });

  it("an unknown path is answered with 404", async () => {
    expect(await send("GET", "/admin/v1/nonsense")).toMatchObject({
      status: 404,
      message: "no resource at /admin/v1/nonsense",
    });
    expect(await send("GET", "/storage/nonsense")).toMatchObject({
      status: 404,
      message: expect.stringContaining("which are blob, queue, table, file"),
    });
  });
});

const timeline = (rest: string): string => `timeline?service=blob&account=${account}&${rest}`;
const tables = `timeline?service=table&account=${account}&container=things`;
const limits = "limit must be a whole number from 1 to 1000, not ";

it.each([
  ["leases?limit=0", 400, `${limits}"0"`],
  ["leases?limit=1001", 400, `${limits}"1001"`],
  ["leases?limit=-1", 400, `${limits}"-1"`],
  ["leases?limit=ten", 400, `${limits}"ten"`],
  ["leases?limit=1&limit=2", 400, "limit is given twice"],
  ["leases?after=%25", 400, "after must be `next` of an earlier response"],
  ["leases?after=AA%3D%3D", 400, "after must be `next` of an earlier response"],
  ["leases?after=/w%3D%3D", 400, "after must be `next` of an earlier response"],
  [`leases?after=${tooLong}`, 400, "after is longer than 2048 characters"],
  ["smb?limit=0", 400, `${limits}"0"`],
  ["smb?after=AA%3D%3D", 400, "after must be `next` of an earlier response"],
  ["messages?limit=9999999999", 400, `${limits}"9999999999"`],
  ["messages?account=unknown", 404, 'no account "unknown"'],
  ["accounts/unknown/key", 404, 'no account "unknown"'],
  [
    "feed?kinds=lease,nonsense",
    400,
    "kinds must be any of refused,lease,message,change,read,health, no",
  ],
  ["timeline", 400, "service is missing: blob, queue, table or file"],
  ["timeline?service=nonsense", 400, 'service must be blob, queue, table or file, not "nonsense"'],
  ["timeline?service=toString", 400, "service must be blob, queue, table or file"],
  ["timeline?service=blob", 400, "account is missing"],
  [`timeline?service=blob&account=${account}`, 400, "container is missing"],
  ["timeline?service=blob&account=unknown&container=abc", 404, 'no account "unknown"'],
  [timeline("container=ab"), 400, 'container "ab": The specified resource name length'],
  [timeline("container=ABC"), 400, "Names have 3 to 63 characters: a to z, 0 to 9 and hyphens"],
  [timeline(`container=${"x".repeat(64)}`), 400, 'container "xxx'],
  [timeline(`container=abc&path=${"x".repeat(1025)}`), 400, 'path "xxx'],
  [timeline(`container=abc&path=${tooLong}`), 400, "path is longer than 2048 characters"],
  [timeline("container=abc&rowKey=r"), 400, "rowKey is for table entities; blob uses path"],
  [`${tables}&rowKey=r`, 400, "partitionKey and rowKey must be given together"],
  [`${tables}&path=r`, 400, "path is not for tables; use partitionKey and rowKey"],
])("GET %s is answered with the reason", async (path, status, message) => {
  const answer = await send("GET", `/admin/v1/${path}`);
  expect(answer.status).toBe(status);
  expect(answer.message).toContain(message);
});

const blob = { kind: "blob", account, container: "abc", path: "a" };
const ofShare = { kind: "share", account, container: "abc" };
const period = "periodSeconds must be a whole number from 0 to 60, not ";
const file = { account, share: "docs", fileId: "1" };
const ofBlob = { kind: "service", account, service: "blob", container: "abc", permissions: "r" };

it.each<[string, object, number, string]>([
  ["leases/break", {}, 400, "kind is missing: blob, container, file or share"],
  ["leases/break", { kind: "queue" }, 400, 'kind must be blob, container, file or share, not "que'],
  ["leases/break", { kind: "blob" }, 400, "account is missing"],
  ["leases/break", { kind: "blob", account: 1 }, 400, "account must be text, not 1"],
  ["leases/break", { kind: "blob", account }, 400, "container is missing"],
  ["leases/break", { ...blob, path: "" }, 400, "path is missing: the name of the blob"],
  ["leases/break", { ...blob, path: tooLong }, 400, "path is longer than 2048 characters"],
  ["leases/break", { ...blob, path: half }, 400, "path is not well-formed Unicode"],
  ["leases/break", { ...blob, path: "a🙂" }, 404, "container does not exist"],
  ["leases/break", { ...ofShare, snapshot: half }, 400, "snapshot is not well-formed Unicode"],
  ["leases/break", { ...blob, kind: "share" }, 400, "path is not allowed for a share"],
  ["leases/break", { ...blob, snapshot: "s" }, 400, "snapshot is for a share, not for a blob"],
  ["leases/break", { ...blob, periodSeconds: 61 }, 400, `${period}61`],
  ["leases/break", { ...blob, periodSeconds: "1" }, 400, `${period}"1"`],
  ["leases/break", { ...blob, periodSeconds: 1.5 }, 400, `${period}1.5`],
  ["leases/break", { ...blob, account: "unknown" }, 404, 'no account "unknown"'],
  ["smb/close", {}, 400, "account is missing"],
  [
    "smb/close",
    { ...file, fileId: "one" },
    400,
    'fileId must be an id, a whole number of up to 64 bits, not "on',
  ],
  ["smb/close", { ...file, open: -1 }, 400, "open must be an id, a whole number of up to 64 bits"],
  ["smb/close", { ...file, fileId: "18446744073709551616" }, 400, "fileId must be an id, a whole"],
  [
    "smb/close",
    { ...file, fileId: "18446744073709551615" },
    404,
    `account ${account} has no share "docs"`,
  ],
  ["smb/close", { ...file, account: "unknown" }, 404, 'no account "unknown"'],
  ["smb/close", file, 404, `account ${account} has no share "docs"`],
  ["smb/sessions/1/close", {}, 404, 'no SMB session "1"'],
  ["smb/sessions/one/close", {}, 404, 'no SMB session "one"'],
  ["session", {}, 400, noCredentials],
  ["session", { account }, 400, noCredentials],
  ["session", { token: null }, 400, noCredentials],
  ["session", { account, key: null }, 400, noCredentials],
  ["session", { token: 1 }, 400, "token must be text, not 1"],
  ["sas", {}, 400, "account is missing"],
  ["sas", { account: "unknown" }, 404, 'no account "unknown"'],
  ["sas", { account, minutes: "60" }, 400, "minutes must be a number above 0, up to 5256000, not "],
  ["sas", { account, kind: "x" }, 400, 'kind must be account or service, not "x"'],
  ["sas", { account, services: "bx" }, 400, 'services must be letters of bqtf, not "bx"'],
  ["sas", { account, startsAt: "now" }, 400, "startsAt must be a time such as 2026-01-01T"],
  ["sas", { account, ip: "1\n2" }, 400, "ip contains control characters"],
  ["sas", { ...ofBlob, container: half }, 400, "container is not well-formed Unicode"],
  ["sas", { account, ip: tooLong }, 400, "ip is longer than 2048 characters"],
  [
    "sas",
    { ...ofBlob, service: "toString" },
    400,
    "service must be blob, queue, table or file, no",
  ],
  ["sas", { ...ofBlob, permissions: "" }, 400, "permissions is missing: letters such as r, or"],
  ["sas", { ...ofBlob, permissions: "R" }, 400, "permissions must be letters of rwdxylacuptfimeo,"],
  ["sas", { ...ofBlob, versionId: "v" }, 400, "versionId is for one blob: service must be blob"],
])("POST %s with %j is answered with the reason", async (path, body, status, message) => {
  const answer = await send("POST", `/admin/v1/${path}`, JSON.stringify(body));
  expect(answer.status).toBe(status);
  expect(answer.message).toContain(message);
});
