import {
  BlobServiceClient,
  StorageSharedKeyCredential,
  type ContainerClient,
} from "@azure/storage-blob";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { start } from "../../src/index.ts";
import { accountSas, rawClient } from "../harness/raw-client.ts";
import { freePorts, freshName, testServer } from "../harness/server.ts";

const held = testServer();
let service: BlobServiceClient;
let container: ContainerClient;

beforeAll(() => {
  service = BlobServiceClient.fromConnectionString(held.server.connectionString);
});
beforeEach(async () => {
  container = service.getContainerClient(freshName("batch"));
  await container.create();
});

async function fill(count: number) {
  const clients = Array.from({ length: count }, (_, i) => container.getBlockBlobClient(`b${i}`));
  await Promise.all(clients.map((client) => client.upload("x", 1)));
  return clients;
}

describe.each(["account", "container"] as const)("a batch of the %s", (level) => {
  const client = () => (level === "account" ? service : container).getBlobBatchClient();

  it("deletes blobs and reports the result of each part", async () => {
    const clients = await fill(20);
    const answer = await client().deleteBlobs([...clients, container.getBlobClient("none")]);
    expect(answer.subResponsesSucceededCount).toBe(20);
    expect(answer.subResponsesFailedCount).toBe(1);
    expect(answer.subResponses.at(-1)).toMatchObject({ status: 404, errorCode: "BlobNotFound" });
    for (const blob of clients) expect(await blob.exists()).toBe(false);
  });

  it("sets tiers", async () => {
    const clients = await fill(3);
    const answer = await client().setBlobsAccessTier(clients, "Cool");
    expect(answer.subResponses.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const blob of clients) expect((await blob.getProperties()).accessTier).toBe("Cool");
  });
});

describe("a batch", () => {
  const partOf = (line: string, id: number, headers: readonly string[] = []) =>
    [
      "--b",
      "Content-Type: application/http",
      `Content-ID: ${id}`,
      "",
      `${line} HTTP/1.1`,
      ...headers,
      "",
      "",
    ].join("\r\n");
  const send = (path: string, parts: readonly string[]) =>
    held.blob.send({
      method: "POST",
      path,
      headers: { "content-type": "multipart/mixed; boundary=b" },
      body: `${parts.join("")}--b--\r\n`,
    });
  const here = (query = "comp=batch") => `/?${query}`;
  const account = "/devstoreaccount1";

  it("authorizes every part separately", async () => {
    await fill(1);
    const answer = await send(here(), [
      partOf(`DELETE ${account}/${container.containerName}/b0`, 0),
    ]);
    expect(answer.status).toBe(202);
    expect(answer.body.toString()).toContain("HTTP/1.1 401");
    expect(await container.getBlobClient("b0").exists()).toBe(true);
  });

  describe("a batch whose parts omit the account", () => {
    const credential = new StorageSharedKeyCredential(
      developmentAccountName,
      developmentAccountKey,
    );
    const date = new Date().toUTCString();
    /** Signed as the Java library does: for the path without the account. */
    const signedPart = (path: string, signedPath = path) => {
      const text = `DELETE${"\n".repeat(12)}x-ms-date:${date}\n${account}${signedPath}`;
      const signature = credential.computeHMACSHA256(text);
      const headers = [
        `x-ms-date: ${date}`,
        `Authorization: SharedKey ${credential.accountName}:${signature}`,
      ];
      return partOf(`DELETE ${path}`, 0, headers);
    };

    it.each(["account", "container"])("uses the account of the %s", async (level) => {
      await fill(2);
      const { containerName } = container;
      const path = level === "account" ? here() : `/${containerName}?restype=container&comp=batch`;
      const parts = [
        signedPart(`/${containerName}/b0`),
        partOf(`DELETE /${containerName}/b1?${accountSas()}`, 1),
      ];
      const answer = await send(path, parts);
      const statuses = answer.body.toString().match(/HTTP\/1\.1 \d+/g);
      expect(statuses).toEqual(["HTTP/1.1 202", "HTTP/1.1 202"]);
      for (const name of ["b0", "b1"]) {
        expect(await container.getBlobClient(name).exists()).toBe(false);
      }
    });

    it("authorizes the parts", async () => {
      await fill(1);
      const path = `/${container.containerName}/b0`;
      const answer = await send(here(), [
        signedPart(path, "/other/b0"),
        partOf(`DELETE ${path}`, 1),
      ]);
      const statuses = answer.body.toString().match(/HTTP\/1\.1 \d+/g);
      expect(statuses).toEqual(["HTTP/1.1 403", "HTTP/1.1 401"]);
      expect(await container.getBlobClient("b0").exists()).toBe(true);
    });
  });

  it("runs no part for another account, even with a SAS of it", async () => {
    await using two = await start({
      ...freePorts,
      inMemoryPersistence: true,
      accounts: {
        devstoreaccount1: { keys: [developmentAccountKey] },
        second: { keys: [developmentAccountKey] },
      },
    });
    const url = two.urls.blob ?? "";
    const first = rawClient(url);
    const second = rawClient(url, undefined, "second");
    for (const client of [first, second]) {
      await client.send({ method: "PUT", path: "/batch?restype=container" });
      const headers = { "x-ms-blob-type": "BlockBlob" };
      await client.send({ method: "PUT", path: "/batch/b0", headers, body: "x" });
    }
    const part = partOf(`DELETE /second/batch/b0?${accountSas("second")}`, 0);
    const answer = await first.send({
      method: "POST",
      path: here(),
      headers: { "content-type": "multipart/mixed; boundary=b" },
      body: `${part}--b--\r\n`,
    });
    expect(answer.body.toString()).toContain("HTTP/1.1 403");
    expect((await second.send({ method: "HEAD", path: "/batch/b0" })).status).toBe(200);
  });

  it("accepts only deletes and tier changes", async () => {
    const answer = await send(here(), [partOf(`GET ${account}/${container.containerName}/b0`, 0)]);
    expect(answer.body.toString()).toContain("HTTP/1.1 400");
  });

  it("of a container that names another container runs none of its parts", async () => {
    await fill(1);
    const { containerName } = container;
    const path = `/${containerName}?restype=container&comp=batch`;
    const answer = await send(path, [
      partOf(`DELETE ${account}/${containerName}/b0`, 0),
      partOf(`DELETE ${account}/elsewhere/b0`, 1),
    ]);
    expect(answer.status).toBe(202);
    const text = answer.body.toString();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
    expect(text).toContain("x-ms-error-code: InvalidInput\r\n");
    expect(text).not.toContain("Content-ID");
    expect(await container.getBlobClient("b0").exists()).toBe(true);
  });

  it.each([
    ["without parts", []],
    ["with a part that is no request", ["--b\r\n\r\nnonsense\r\n"]],
  ])("is rejected as a whole %s", async (_what, parts) => {
    expect((await send(here(), parts)).status).toBe(400);
  });

  it("has at most 256 parts", async () => {
    const part = partOf(`DELETE ${account}/${container.containerName}/b0`, 0);
    const answer = await send(
      here(),
      Array.from({ length: 257 }, () => part),
    );
    expect(answer.status).toBe(202);
    expect(answer.body.toString()).toContain("ExceedsMaxBatchRequestCount");
  });
});
