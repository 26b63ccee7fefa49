import { createHmac, createPublicKey, KeyObject, sign } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { issuer, keysAddress, signingKey, tokenWorld, type SigningKey } from "./token-world.ts";

type World = Awaited<ReturnType<typeof tokenWorld>>;
let key: SigningKey;
let other: SigningKey;
let elliptic: SigningKey;
let world: World;

beforeAll(async () => {
  key = await signingKey("one");
  other = await signingKey("two");
  elliptic = await signingKey("three", "ES256");
});

beforeEach(async () => {
  world = await tokenWorld([key, elliptic]);
});

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a verified token", () => {
  it("is accepted with RS256 and ES256, over HTTPS, within the roles of its principal", async () => {
    expect(await world.status(await world.token(key))).toBe(200);
    expect(await world.status(await world.token(elliptic))).toBe(200);
    expect(await world.status(await world.token(key), "DELETE")).toBe(403);
    expect(await world.status(await world.token(key, { oid: "other" }))).toBe(403);
    expect(await world.status(await world.token(key), "GET", false)).toBe(403);
  });

  it("identifies the caller by its subject if the issuer has no object ids", async () => {
    expect(await world.status(await world.token(key, { oid: undefined, sub: "me" }))).toBe(200);
    expect(await world.status(await world.token(key, { oid: undefined }))).toBe(401);
  });

  it("may have several audiences, and those that the issuer is configured with", async () => {
    const several = { aud: ["https://elsewhere.example", "https://storage.azure.com/"] };
    expect(await world.status(await world.token(key, several))).toBe(200);
    const lake = { aud: "https://devstoreaccount1.dfs.core.windows.net" };
    expect(await world.status(await world.token(key, lake))).toBe(200);
    const own = await tokenWorld([key], { audiences: ["api://etagere"] });
    expect(await own.status(await own.token(key, { aud: "api://etagere" }))).toBe(200);
    expect(await own.status(await own.token(key))).toBe(401);
  });

  it("has the claims that the configuration names", async () => {
    const claims = { objectId: "user", tenantId: "org", groups: "teams" };
    const mapped = await tokenWorld([key], { claims });
    expect(await mapped.status(await mapped.token(key, { user: "me" }))).toBe(200);
    expect(await mapped.status(await mapped.token(key, { user: "x", teams: ["me"] }))).toBe(200);
    expect(await mapped.status(await mapped.token(key, { sub: "me" }))).toBe(401);
  });
});

describe("rejected with 401", () => {
  const attacks: readonly (readonly [string, () => Promise<string> | string])[] = [
    ["forged with another key under a known id", () => world.token({ ...other, id: "one" })],
    ["signed with a key that is not published", () => world.token(other)],
    ["expired", () => world.token(key, { exp: world.now() - 61 })],
    ["not yet valid", () => world.token(key, { nbf: world.now() + 61 })],
    ["without an expiration time", () => world.token(key, { exp: undefined })],
    ["for another audience", () => world.token(key, { aud: "https://vault.azure.net" })],
    ["for another account", () => world.token(key, { aud: "https://other.blob.core.windows.net" })],
    ["without an audience", () => world.token(key, { aud: undefined })],
    ["of another issuer", () => world.token(key, { iss: `${issuer}/` })],
    [
      "with claims that were changed afterwards",
      async () => {
        const [head = "", , signature = ""] = (await world.token(key)).split(".");
        const claims = { iss: issuer, aud: "https://storage.azure.com", oid: "me", exp: 9e9 };
        return `${head}.${encoded(claims)}.${signature}`;
      },
    ],
    ["longer than any real one", () => world.token(key, { padding: "x".repeat(20_000) })],
  ];
  it.each(attacks)("%s", async (_title, make) => {
    expect(await world.status(await make())).toBe(401);
  });

  const unsigned = (header: object): string => {
    const claims = { iss: issuer, aud: "https://storage.azure.com", oid: "me" };
    return `${encoded(header)}.${encoded({ ...claims, exp: world.now() + 60 })}`;
  };
  it.each(["none", "None", "NONE"])("algorithm %s", async (alg) => {
    expect(await world.status(`${unsigned({ alg })}.`)).toBe(401);
    expect(await world.status(`${unsigned({ alg, kid: "one" })}.`)).toBe(401);
    expect(await world.status(`${unsigned({ alg, kid: "one" })}.AAAA`)).toBe(401);
  });

  it("HS256 with the public key as secret (key confusion)", async () => {
    const jwk = key.published as Parameters<typeof createPublicKey>[0] & object;
    const pem = createPublicKey({ key: jwk, format: "jwk" } as never).export({
      type: "spki",
      format: "pem",
    });
    for (const secret of [pem, JSON.stringify(key.published), key.published.n ?? ""]) {
      const text = unsigned({ alg: "HS256", kid: "one" });
      const signature = createHmac("sha256", secret).update(text).digest("base64url");
      expect(await world.status(`${text}.${signature}`)).toBe(401);
    }
  });

  it.each([
    ["b64 alone", { b64: false }],
    ["b64 as critical", { b64: false, crit: ["b64"] }],
    ["b64 with its usual value", { b64: true, crit: ["b64"] }],
    ["an unknown critical header", { crit: ["exp"], exp: 1 }],
  ])("a header that changes what is signed: %s", async (_title, header) => {
    const sent = (more: object) => {
      const text = unsigned({ alg: "RS256", kid: "one", ...more });
      const signature = sign("sha256", Buffer.from(text), KeyObject.from(key.privateKey));
      return `${text}.${signature.toString("base64url")}`;
    };
    expect(await world.status(sent({}))).toBe(200);
    expect(await world.status(sent(header))).toBe(401);
  });

  it("a key of the token's own header", async () => {
    const header = { jwk: other.published, jku: keysAddress, kid: "one" };
    expect(await world.status(await world.token(other, {}, header))).toBe(401);
    expect(world.documents.fetched.filter((at) => at === keysAddress)).toHaveLength(1);
  });

  it("an issuer that is trusted for another account only", async () => {
    const limited = await tokenWorld([key], { accounts: ["another"] });
    expect(await limited.status(await limited.token(key))).toBe(401);
  });
});

describe("a token that was accepted before", () => {
  it("needs no network", async () => {
    const token = await world.token(key);
    await world.status(token);
    const count = world.documents.fetched.length;
    expect(count).toBe(2);
    expect(await world.status(token)).toBe(200);
    expect(await world.status(await world.token(key, { extra: 1 }))).toBe(200);
    expect(world.documents.fetched).toHaveLength(count);
  });

  it("does not help another one with the same signature", async () => {
    const token = await world.token(key);
    expect(await world.status(token)).toBe(200);
    const [head = "", payload = "", signature = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
    const changed = `${head}.${encoded({ ...claims, exp: world.now() + 9000 })}.${signature}`;
    expect(await world.status(changed)).toBe(401);
    expect(await world.status(token)).toBe(200);
  });

  it("expires, with a tolerance of one minute", async () => {
    const token = await world.token(key, { exp: world.now() + 100 });
    expect(await world.status(token)).toBe(200);
    world.sim.clock.advance(150_000);
    expect(await world.status(token)).toBe(200);
    world.sim.clock.advance(10_000);
    expect(await world.status(token)).toBe(401);
  });

  it("is rejected once its issuer has removed the key", async () => {
    const token = await world.token(key);
    expect(await world.status(token)).toBe(200);
    world.documents.keys = [other.published];
    world.sim.clock.advance(31_000);
    expect(await world.status(await world.token(other))).toBe(200);
    expect(await world.status(token)).toBe(401);
  });

  it("is rejected once its issuer is no longer configured", async () => {
    const token = await world.token(key);
    expect(await world.status(token)).toBe(200);
    world.reconfigure([{ ...world.trusted, issuer: "https://another.example" }]);
    expect(await world.status(token)).toBe(401);
    world.reconfigure([world.trusted]);
    expect(await world.status(token)).toBe(200);
  });
});

describe("keys of an issuer", () => {
  it.each([
    ["of another issuer", { issuer: "https://evil.example", jwks_uri: keysAddress }],
    ["with keys that arrive unencrypted", { issuer, jwks_uri: "http://login.example/keys" }],
    ["without keys", { issuer }],
    ["that is no object", "text"],
  ])("are not taken from a configuration %s", async (_title, configuration) => {
    const fresh = await tokenWorld([other]);
    await fresh.status(await fresh.token(other));
    fresh.documents.configuration = configuration as object;
    fresh.documents.keys = [key.published];
    fresh.sim.clock.advance(31_000);
    expect(await fresh.status(await fresh.token(key))).toBe(401);
    expect(await fresh.status(await fresh.token(other))).toBe(200);
  });

  it("rotate: an unknown key is fetched, at most once in 30 s", async () => {
    await world.status(await world.token(key));
    world.documents.keys = [key.published, other.published];
    expect(await world.status(await world.token(other))).toBe(401);
    world.sim.clock.advance(31_000);
    const count = world.documents.fetched.length;
    expect(await world.status(await world.token(other))).toBe(200);
    for (let each = 0; each < 20; each += 1) {
      const invented = { ...other, id: `invented${each}` };
      expect(await world.status(await world.token(invented))).toBe(401);
    }
    expect(world.documents.fetched).toHaveLength(count + 2);
  });

  it("stay valid while the issuer answers with another document", async () => {
    const token = await world.token(key);
    expect(await world.status(token)).toBe(200);
    world.documents.keys = undefined;
    world.sim.clock.advance(31_000);
    expect(await world.status(await world.token(other))).toBe(401);
    expect(await world.status(token)).toBe(200);
  });

  it("stay valid for a day while the issuer does not answer", async () => {
    const token = await world.token(key, { exp: world.now() + 100_000 });
    expect(await world.status(token)).toBe(200);
    world.documents.isDown = true;
    world.sim.clock.advance(3_600_000);
    expect(await world.status(token)).toBe(200);
    expect(await world.status(await world.token(key))).toBe(200);
    expect(await world.status(await world.token(other))).toBe(401);
    world.sim.clock.advance(24 * 3_600_000);
    expect(await world.status(token)).toBe(401);
    world.documents.isDown = false;
    world.sim.clock.advance(31_000);
    expect(await world.status(await world.token(key))).toBe(200);
  });
});

it("a token is verified once: later uses neither wait nor take a promise", async () => {
  const token = await world.token(key);
  const { tokens } = world.sim.http;
  const first = tokens?.verify(token);
  expect(first).toBeInstanceOf(Promise);
  const verdict = await first;
  expect(tokens?.verify(token)).toBe(verdict);
  expect(tokens?.verify(token)).toBe(verdict);
});
