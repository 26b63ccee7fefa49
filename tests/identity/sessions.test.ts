import { createHmac } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { formatHttpDate } from "../../src/base/dates.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import { signingKey, tokenWorld } from "./token-world.ts";

type World = Awaited<ReturnType<typeof tokenWorld>>;

const version = "2026-06-06";
const request =
  "<CreateSessionRequest><AuthenticationType>HMAC</AuthenticationType></CreateSessionRequest>";
const key = await signingKey("first");
let world: World;
let bearer = "";

beforeEach(async () => {
  world = await tokenWorld([key]);
  bearer = `Bearer ${await world.token(key)}`;
  const block = { "x-ms-blob-type": "BlockBlob" };
  await world.sim.send({ method: "PUT", path: "/one/b", headers: block, body: "text" });
  await world.sim.send({ method: "PUT", path: "/two?restype=container" });
  await world.sim.send({ method: "PUT", path: "/two/b", headers: block, body: "text" });
});

function create(authorization: string, body = request, container = "one") {
  const headers = { authorization, "x-ms-version": version };
  const path = `/${container}?restype=container&comp=session`;
  return world.sim.sendAs({ method: "POST", path, headers, body }, true);
}

async function newSession() {
  const { status, body } = await create(bearer);
  expect(status).toBe(201);
  const part = (name: string) => new RegExp(`<${name}>(.*)</${name}>`).exec(body)?.[1] ?? "";
  expect(part("AuthenticationType")).toBe("HMAC");
  expect(part("Id")).not.toBe("");
  expect(Date.parse(part("Expiration")) / 1000 - world.now()).toBeCloseTo(300, -1);
  return { token: part("SessionToken"), key: part("SessionKey") };
}

/** A request that is signed with the key of a session. */
function send(
  method: string,
  path: string,
  session: { readonly token: string; readonly key: string },
) {
  const date = formatHttpDate(world.sim.clock.wall());
  const [resource = "", query = ""] = path.split("?");
  const parameters = query.split("&").filter((each) => each !== "");
  const text = [
    method,
    ...Array.from({ length: 11 }, () => ""),
    `x-ms-date:${date}`,
    `x-ms-version:${version}`,
    `/${developmentAccountName}/${developmentAccountName}${resource}`,
    ...parameters.toSorted().map((each) => each.replace("=", ":")),
  ].join("\n");
  const signature = createHmac("sha256", Buffer.from(session.key, "base64"))
    .update(text)
    .digest("base64");
  const authorization = `Session ${session.token}:${signature}`;
  const headers = { authorization, "x-ms-date": date, "x-ms-version": version };
  return world.sim.sendAs({ method, path, headers }, true);
}

it("a session reads its container", async () => {
  const session = await newSession();
  expect((await send("GET", "/one/b", session)).body).toBe("text");
  expect((await send("HEAD", "/one/b", session)).status).toBe(200);
  const listed = await send("GET", "/one?comp=list&restype=container", session);
  expect(listed.body).toContain("<Name>b</Name>");
});

it("a session neither writes nor reaches anything else", async () => {
  const session = await newSession();
  expect((await send("DELETE", "/one/b", session)).status).toBe(403);
  expect((await send("GET", "/two/b", session)).status).toBe(403);
  expect((await send("GET", "/?comp=list", session)).status).toBe(403);
});

it("a session ends after five minutes", async () => {
  const session = await newSession();
  world.sim.clock.skip(299_000);
  expect((await send("GET", "/one/b", session)).status).toBe(200);
  world.sim.clock.skip(2_000);
  expect((await send("GET", "/one/b", session)).status).toBe(403);
});

it.each([
  ["a changed token", (token: string) => `${token.startsWith("W") ? "X" : "W"}${token.slice(1)}`],
  ["a token without its proof", (token: string) => token.split(".")[0] ?? ""],
  ["an empty token", () => "."],
])("%s is rejected", async (_, change) => {
  const session = await newSession();
  const forged = { ...session, token: change(session.token) };
  expect((await send("GET", "/one/b", forged)).code).toBe("AuthenticationFailed");
});

it("another key is rejected", async () => {
  const session = await newSession();
  const forged = { ...session, key: Buffer.alloc(32).toString("base64") };
  expect((await send("GET", "/one/b", forged)).code).toBe("AuthenticationFailed");
});

it("Create Session needs a bearer token with a role, and the known type", async () => {
  const other = `Bearer ${await world.token(key, { oid: "other" })}`;
  expect((await create(other)).status).toBe(403);
  const session = await newSession();
  expect((await send("POST", "/one?comp=session&restype=container", session)).status).toBe(403);
  const unknown = await create(bearer, request.replace("HMAC", "Other"));
  expect([unknown.status, unknown.code]).toEqual([400, "InvalidXmlNodeValue"]);
  expect((await create(bearer, "")).code).toBe("InvalidXmlDocument");
  expect((await create(bearer, request, "none")).code).toBe("ContainerNotFound");
});
