import { connect, type Socket } from "node:net";
import { once } from "node:events";
import {
  BlobServiceClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { sendRaw, type RawReply } from "../fuzz/raw-socket.ts";
import { accountSas, version } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";

const otherKey = Buffer.alloc(64, 7).toString("base64");
const held = testServer({
  accounts: {
    [developmentAccountName]: { keys: [developmentAccountKey] },
    other: { keys: [otherKey] },
  },
});
const account = `/${developmentAccountName}`;
const full = accountSas();

beforeAll(async () => {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  for (const name of ["open", "secret"]) {
    await service.getContainerClient(name).create();
    await service.getContainerClient(name).getBlockBlobClient("b").upload(name, name.length);
  }
});

/** A token for one container, signed with the key of one of the accounts. */
function tokenFor(container: string, letters: string, key = developmentAccountKey): string {
  const values = {
    containerName: container,
    permissions: ContainerSASPermissions.parse(letters),
    expiresOn: new Date("2099-01-01"),
  };
  const credential = new StorageSharedKeyCredential(developmentAccountName, key);
  return generateBlobSASQueryParameters(values, credential).toString();
}

function send(
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[] = [],
  body = "",
): Promise<RawReply> {
  const all = [["x-ms-version", version] as const, lengthOf(body), ...headers];
  return sendRaw(held.server.urls.blob ?? "", {
    method,
    target,
    headers: all,
    body: Buffer.from(body),
  });
}

async function isSecretThere(): Promise<boolean> {
  return (await send("GET", `${account}/secret/b?${full}`)).text.endsWith("secret");
}

describe("signatures", () => {
  it.each([
    ["GET", "/secret/b", "rl"],
    ["GET", "/secret?restype=container&comp=list", "rl"],
    ["DELETE", "/open/b", "rl"],
    ["PUT", "/open/b?comp=metadata", "rl"],
    ["GET", "/?comp=list", "rl"],
  ])("%s %s is not allowed by a read token for one container", async (method, path, letters) => {
    const sign = path.includes("?") ? "&" : "?";
    const target = `${account}${path}${sign}${tokenFor("open", letters)}`;
    expect((await send(method, target)).status).toBe(403);
  });

  it.each([
    `${account}/open/../secret/b`,
    `${account}/open/%2e%2e/secret/b`,
    `${account}/open/..%2fsecret/b`,
    `${account}/open/%2e%2e%2fsecret%2fb`,
    `${account}/open//../../secret/b`,
    `${account}/open/..%5csecret%5cb`,
    `/other/../${developmentAccountName}/secret/b`,
  ])("a path cannot leave its container: %s", async (target) => {
    const reply = await send("GET", `${target}?${tokenFor("open", "rl")}`);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.text).not.toMatch(/secret$/);
  });

  it("a forged token and one signed with another account's key are rejected", async () => {
    const forged = tokenFor("secret", "rl", otherKey);
    expect((await send("GET", `${account}/secret/b?${forged}`)).status).toBe(403);
    const stretched = tokenFor("open", "rl").replace("sp=rl", "sp=rwdl");
    expect((await send("DELETE", `${account}/open/b?${stretched}`)).status).toBe(403);
    expect((await send("GET", `/other/secret/b?${full}`)).status).toBe(403);
  });
});

describe("request smuggling", () => {
  const inner = (blob: string): string =>
    `DELETE ${account}${blob}?${full} HTTP/1.1\r\nHost: x\r\nx-ms-version: ${version}\r\n\r\n`;
  const last = `GET ${account}/open/b?${full} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const type = ["x-ms-blob-type", "BlockBlob"] as const;
  const put = (lines: readonly (readonly [string, string])[], body: string, after: string) =>
    sendRaw(held.server.urls.blob ?? "", {
      method: "PUT",
      target: `${account}/open/c?${full}`,
      headers: [["x-ms-version", version], type, ...lines],
      body: Buffer.from(body),
      after: after + last,
    }).catch(() => undefined);

  it.each<readonly [string, (body: string) => readonly (readonly [string, string])[]]>([
    ["a length and chunks", (body) => [lengthOf(body), ["transfer-encoding", "chunked"]]],
    ["chunks and a length", (body) => [["transfer-encoding", "chunked"], lengthOf(body)]],
    ["two lengths", (body) => [["content-length", "0"], lengthOf(body)]],
    ["chunks that are none", (body) => [lengthOf(body), ["transfer-encoding", "xchunked"]]],
    [
      "a header that goes on",
      (body) => [lengthOf(body), ["x-a", "1\r\n transfer-encoding: chunked"]],
    ],
  ])("%s: only one request is served", async (_what, headersFor) => {
    const body = `0\r\n\r\n${inner("/secret/b")}`;
    await put(headersFor(body), body, "");
    expect(await isSecretThere()).toBe(true);
  });

  it("two pipelined requests are both served (shows that the tests above can fail)", async () => {
    await send("PUT", `${account}/open/gone?${full}`, [type]);
    await put([["content-length", "0"]], "", inner("/open/gone"));
    expect((await send("GET", `${account}/open/gone?${full}`)).status).toBe(404);
  });
});

function lengthOf(body: string): readonly [string, string] {
  return ["content-length", String(Buffer.byteLength(body))];
}

describe("expanding bodies", () => {
  it("XML entities are not expanded", async () => {
    const levels = Array.from({ length: 30 }, (_, at) => {
      const before = at === 0 ? "lol" : `&l${at - 1};&l${at - 1};`;
      return `<!ENTITY l${at} "${before}">`;
    });
    const body = `<!DOCTYPE a [${levels.join("")}]><BlockList><Latest>&l29;</Latest></BlockList>`;
    const reply = await send("PUT", `${account}/open/b?comp=blocklist&${full}`, [], body);
    expect(reply.status).toBe(400);
  });

  it("headers are limited in size", async () => {
    const many = Array.from({ length: 40 }, (_, at) => [`x-a${at}`, "x".repeat(1000)] as const);
    const reply = await send("GET", `${account}/open/b?${full}`, many);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
  });
});

describe("slow clients", () => {
  it("hundreds of unfinished requests do not delay other clients", async () => {
    const { hostname, port } = new URL(held.server.urls.blob ?? "");
    const sockets: Socket[] = [];
    for (let count = 0; count < 300; count += 1) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      const head = `PUT ${account}/open/slow?${full} HTTP/1.1\r\nHost: x\r\n`;
      const rest = "x-ms-blob-type: BlockBlob\r\ncontent-length: 1000000\r\n\r\nx";
      socket.write(count % 2 === 0 ? head : head + rest);
      sockets.push(socket);
    }
    expect(await isSecretThere()).toBe(true);
    for (const socket of sockets) socket.destroy();
  });
});
