// Tokens of an independent OpenID Connect server that rotates its keys and fails. The server under
// test runs in this process, on a clock of which the test skips time.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { exportJWK, generateKeyPair } from "jose";
import { resolveOptions } from "../../dist/server/options.js";
import { logFor } from "../../dist/host/log.js";
import { realEnvironment } from "../../dist/host/world.js";
import { startWith } from "../../dist/server/start.js";

const audience = "https://storage.azure.com";
const unknownKeyPauseSeconds = 31;
const installed = createRequire(join(process.cwd(), "package.json")).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(installed));

const [one, two, three, four] = await Promise.all(["1", "2", "3", "4"].map(newKey));
const issuer = await startIssuer();
issuer.publish(one);
const clock = skippingClock();
const server = await startServer(clock);
const ca = readFileSync("data/https/ca.pem");

const first = await issuer.token();
assert.equal(await status(first, "PUT"), 201);

// A new key: the old one is still published, and its tokens are accepted.
issuer.publish(two, one);
const second = await issuer.token();
assert.equal(await status(second), 401);
clock.skip(unknownKeyPauseSeconds);
assert.equal(await status(second), 200);
assert.equal(await status(first), 200);

// The first key is removed: its tokens are rejected once the keys are fetched again.
issuer.publish(three, two);
const third = await issuer.token();
clock.skip(unknownKeyPauseSeconds);
assert.equal(await status(third), 200);
assert.equal(await status(second), 200);
assert.equal(await status(first), 401);

// The issuer does not answer: known keys are used, unknown ones are not.
issuer.publish(four, three);
const fourth = await issuer.token();
issuer.publish();
clock.skip(unknownKeyPauseSeconds);
assert.equal(await status(fourth), 401);
assert.equal(await status(third), 200);
issuer.publish(four, three);
clock.skip(unknownKeyPauseSeconds);
assert.equal(await status(fourth), 200);
assert.equal(await status(second), 401);

await server.stop();
console.log("ok");
process.exit(0);

async function newKey(kid) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

/** The first published key signs; without keys the issuer answers 503. */
async function startIssuer() {
  let answer = refuse;
  const listener = createServer((message, response) => answer(message, response));
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const url = `http://127.0.0.1:${listener.address().port}`;
  return {
    url,
    publish: (...keys) => (answer = keys.length === 0 ? refuse : providerOf(url, keys).callback()),
    async token() {
      const authorization = `Basic ${Buffer.from("app:secret").toString("base64")}`;
      const body = new URLSearchParams({ grant_type: "client_credentials", resource: audience });
      const response = await fetch(`${url}/token`, {
        method: "POST",
        headers: { authorization },
        body,
      });
      const { access_token: token, error_description: problem } = await response.json();
      assert.ok(token, problem);
      return token;
    },
  };
}

function refuse(_, response) {
  response.writeHead(503).end();
}

function providerOf(url, keys) {
  return new Provider(url, {
    clients: [
      {
        client_id: "app",
        client_secret: "secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "",
          audience,
          accessTokenFormat: "jwt",
          accessTokenTTL: 3600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
}

function skippingClock() {
  const { clock: real } = realEnvironment({});
  const ticksPerSecond = 10_000_000n;
  let skipped = 0n;
  return {
    ...real,
    monotonic: () => real.monotonic() + skipped,
    skip: (seconds) => (skipped += BigInt(seconds) * ticksPerSecond),
  };
}

async function startServer(clockOfTest) {
  const ports = ["blob", "queue", "table", "file", "dfs", "admin"].map((name) => [
    `${name}Port`,
    0,
  ]);
  const identity = {
    issuers: [{ issuer: issuer.url }],
    roleAssignments: [{ principal: "app", role: "Storage Blob Data Contributor" }],
  };
  const given = { location: "data", https: true, noSmb: true, silent: true, identity };
  const options = resolveOptions({ ...Object.fromEntries(ports), ...given });
  assert.ok(options.ok, options.problems?.join("\n"));
  const environment = realEnvironment(logFor(options.value));
  return startWith(options.value, { ...environment, clock: clockOfTest, announce: () => {} });
}

/** The status of a request for a container with a token. */
function status(token, method = "GET") {
  const headers = {
    authorization: `Bearer ${token}`,
    "x-ms-version": "2023-11-03",
    "content-length": "0",
  };
  const url = `${server.urls.blob}/devstoreaccount1/one?restype=container`;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}
