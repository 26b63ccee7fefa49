import {
  BlobSASPermissions,
  generateBlobSASQueryParameters,
  SASProtocol,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";

const held = testServer();
const block = { "x-ms-blob-type": "BlockBlob" };
let file: RawClient;

beforeAll(async () => {
  file = rawClient(held.server.urls.file ?? "");
  await held.blob.send({ method: "PUT", path: "/ccc?restype=container" });
  await held.blob.send({ method: "PUT", path: "/ccc/b", headers: block, body: "bytes" });
  await file.send({ method: "PUT", path: "/sss?restype=share" });
});

describe("a source in an account that nobody has", () => {
  const named = () => ({
    "x-ms-copy-source": `${held.server.urls.blob}/nobody/ccc/b`,
  });

  it.each([
    ["Copy Blob", {}],
    ["Copy Blob From URL", { "x-ms-requires-sync": "true" }],
    ["Put Blob From URL", block],
  ])("is not found by %s", async (_what, more) => {
    const headers = { ...named(), ...more };
    const answer = await held.blob.send({ method: "PUT", path: "/ccc/t", headers });
    expect(answer).toMatchObject({ status: 404, code: "CannotVerifyCopySource" });
  });

  it("is not found by Copy File", async () => {
    const headers = { "x-ms-copy-source": `${held.server.urls.file}/nobody/sss/f` };
    const answer = await file.send({ method: "PUT", path: "/sss/t", headers });
    expect(answer).toMatchObject({ status: 404, code: "CannotVerifyCopySource" });
  });
});

describe("a place in a listing of blobs", () => {
  const list = "/ccc?restype=container&comp=list&include=snapshots";
  const marker = (parts: readonly string[]) => {
    const text = Buffer.from(JSON.stringify(parts)).toString("base64").replaceAll("=", "-");
    return `2!${text.length}!${text}`;
  };

  it.each(["-1", "x", "1.5", "99999999999999999999"])("may be of no kind: %s", async (kind) => {
    const path = `${list}&marker=${encodeURIComponent(marker(["a", "1", kind]))}`;
    const answer = await held.blob.send({ method: "GET", path });
    expect([answer.status, String(answer.body)]).toEqual([
      200,
      expect.stringContaining("b</Name>"),
    ]);
  });

  const long = "x".repeat(5000);
  const columns = {
    "x-ms-version": "2026-10-06",
    accept: "application/vnd.apache.arrow.stream",
  };

  it.each([
    [`startfrom=${long}`, {}],
    [`startfrom=${long}`, columns],
    [`endbefore=${long}`, columns],
  ])("is no longer than a name, case %#", async (query, headers) => {
    const answer = await held.blob.send({ method: "GET", path: `${list}&${query}`, headers });
    expect(answer).toMatchObject({ status: 400, code: "InvalidQueryParameterValue" });
  });
});

describe("the version of something deleted after the end of time", () => {
  const last = "FFFFFFFFFFFFFFFF";

  it("is that of no container", async () => {
    const headers = {
      "x-ms-deleted-container-name": "gone",
      "x-ms-deleted-container-version": last,
    };
    const path = "/gone?restype=container&comp=undelete";
    const answer = await held.blob.send({ method: "PUT", path, headers });
    expect(answer).toMatchObject({ status: 404, code: "ContainerNotFound" });
  });

  it("is that of no share", async () => {
    const headers = { "x-ms-deleted-share-name": "gone", "x-ms-deleted-share-version": last };
    const path = "/gone?restype=share&comp=undelete";
    const answer = await file.send({ method: "PUT", path, headers });
    expect(answer).toMatchObject({ status: 400, code: "InvalidHeaderValue" });
  });
});

describe("a source whose signature asks for HTTPS", () => {
  function signed(protocol: SASProtocol): string {
    const values = {
      containerName: "ccc",
      blobName: "b",
      permissions: BlobSASPermissions.parse("r"),
      expiresOn: new Date("2099-01-01"),
      protocol,
    };
    const credential = new StorageSharedKeyCredential(
      developmentAccountName,
      developmentAccountKey,
    );
    const token = generateBlobSASQueryParameters(values, credential).toString();
    const url = held.server.urls.blob?.replace("http:", "https:");
    return `${url}/${developmentAccountName}/ccc/b?${token}`;
  }

  it.each([
    ["Copy Blob", {}],
    ["Copy Blob From URL", { "x-ms-requires-sync": "true" }],
  ])("is not opened to %s over HTTP by writing another scheme", async (_what, more) => {
    const send = (protocol: SASProtocol) => {
      const headers = { "x-ms-copy-source": signed(protocol), ...more };
      return held.blob.send({ method: "PUT", path: "/ccc/t", headers });
    };
    expect((await send(SASProtocol.HttpsAndHttp)).status).toBe(202);
    expect((await send(SASProtocol.Https)).status).toBe(403);
  });
});
