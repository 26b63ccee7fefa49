import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  BlobSASPermissions,
  generateBlobSASQueryParameters,
  SASProtocol,
  StorageSharedKeyCredential,
  type BlobSASSignatureValues,
} from "@azure/storage-blob";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { rawClient, type RawAnswer, type RawClient } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";

const held = testServer({ allowedSources: "127.0.0.0/8" });
const block = { "x-ms-blob-type": "BlockBlob" };
let file: RawClient;

beforeAll(async () => {
  file = rawClient(held.server.urls.file ?? "");
  await held.blob.send({ method: "PUT", path: "/ccc?restype=container" });
  await held.blob.send({ method: "PUT", path: "/ccc/b", headers: block, body: "bytes" });
  await file.send({ method: "PUT", path: "/sss?restype=share" });
});

describe("a copy source in an unknown account", () => {
  const named = () => ({
    "x-ms-copy-source": `${held.server.urls.blob}/unknown/ccc/b`,
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
    const headers = { "x-ms-copy-source": `${held.server.urls.file}/unknown/sss/f` };
    const answer = await file.send({ method: "PUT", path: "/sss/t", headers });
    expect(answer).toMatchObject({ status: 404, code: "CannotVerifyCopySource" });
  });
});

describe("a listing marker", () => {
  const list = "/ccc?restype=container&comp=list&include=snapshots";
  const marker = (parts: readonly string[]) => {
    const text = Buffer.from(JSON.stringify(parts)).toString("base64").replaceAll("=", "-");
    return `2!${text.length}!${text}`;
  };

  it.each(["-1", "x", "1.5", "99999999999999999999"])(
    "of unknown form is accepted: %s",
    async (kind) => {
      const path = `${list}&marker=${encodeURIComponent(marker(["a", "1", kind]))}`;
      const answer = await held.blob.send({ method: "GET", path });
      expect([answer.status, String(answer.body)]).toEqual([
        200,
        expect.stringContaining("b</Name>"),
      ]);
    },
  );

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

describe("the version of a deleted item with a time beyond the supported range", () => {
  const last = "FFFFFFFFFFFFFFFF";

  it("matches no container", async () => {
    const headers = {
      "x-ms-deleted-container-name": "gone",
      "x-ms-deleted-container-version": last,
    };
    const path = "/gone?restype=container&comp=undelete";
    const answer = await held.blob.send({ method: "PUT", path, headers });
    expect(answer).toMatchObject({ status: 404, code: "ContainerNotFound" });
  });

  it("matches no share", async () => {
    const headers = { "x-ms-deleted-share-name": "gone", "x-ms-deleted-share-version": last };
    const path = "/gone?restype=share&comp=undelete";
    const answer = await file.send({ method: "PUT", path, headers });
    expect(answer).toMatchObject({ status: 400, code: "InvalidHeaderValue" });
  });
});

/** A token to read or write the one blob. */
function tokenWith(more: Partial<BlobSASSignatureValues>): string {
  const values = {
    containerName: "ccc",
    blobName: "b",
    permissions: BlobSASPermissions.parse("rw"),
    expiresOn: new Date("2099-01-01"),
    ...more,
  };
  const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
  return generateBlobSASQueryParameters(values, credential).toString();
}

const blobUrl = () => `${held.server.urls.blob}/${developmentAccountName}/ccc/b`;

describe("a source SAS that requires HTTPS", () => {
  it.each([
    ["Copy Blob", {}],
    ["Copy Blob From URL", { "x-ms-requires-sync": "true" }],
  ])("is not valid for %s over HTTP with a changed scheme", async (_what, more) => {
    const send = (protocol: SASProtocol) => {
      const source = `${blobUrl().replace("http:", "https:")}?${tokenWith({ protocol })}`;
      const headers = { "x-ms-copy-source": source, ...more };
      return held.blob.send({ method: "PUT", path: "/ccc/t", headers });
    };
    expect((await send(SASProtocol.HttpsAndHttp)).status).toBe(202);
    expect((await send(SASProtocol.Https)).status).toBe(403);
  });
});

describe("text that does not fit a header", () => {
  it("is returned as UTF-8 if a SAS overrides the header", async () => {
    const disposition = 'attachment; filename="пример.txt"';
    const answer = await fetch(`${blobUrl()}?${tokenWith({ contentDisposition: disposition })}`);
    const header = answer.headers.get("content-disposition") ?? "";
    expect([answer.status, Buffer.from(header, "latin1").toString()]).toEqual([200, disposition]);
  });

  it("is rejected in a SAS if it is not text", async () => {
    const token = tokenWith({ contentDisposition: "a\u0001b" });
    expect((await fetch(`${blobUrl()}?${token}`)).status).toBe(403);
  });

  it("is rejected as an encryption scope before anything is written", async () => {
    const token = tokenWith({ encryptionScope: "область" });
    const headers = { ...block, "x-ms-version": "2023-11-03" };
    const answer = await fetch(`${blobUrl()}?${token}`, { method: "PUT", headers, body: "other" });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("x-ms-error-code")).toBe("InvalidQueryParameterValue");
    const kept = await held.blob.send({ method: "GET", path: "/ccc/b" });
    expect(kept.body.toString()).toBe("bytes");
  });

  it.each(["AllowedHeaders", "ExposedHeaders"])("is rejected in %s", async (name) => {
    const rule = (text: string) =>
      "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins>" +
      "<AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds>" +
      `<${name}>${text}</${name}></CorsRule></Cors></StorageServiceProperties>`;
    const path = "/?restype=service&comp=properties";
    const put = (text: string) => held.blob.send({ method: "PUT", path, body: rule(text) });
    expect((await put("x-ms-meta-*")).status).toBe(202);
    expect((await put("x-пример")).status).toBe(400);
  });
});

describe("a page blob copied from another server", () => {
  async function copyOf(length: number): Promise<RawAnswer> {
    const headers = { "x-ms-blob-type": "PageBlob", "Content-Length": length };
    const elsewhere = createServer((_request, response) => response.writeHead(200, headers).end());
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const { port } = elsewhere.address() as AddressInfo;
    const source = { "x-ms-copy-source": `http://127.0.0.1:${port}/pages` };
    const answer = await held.blob.send({ method: "PUT", path: "/ccc/p", headers: source });
    elsewhere.closeAllConnections();
    elsewhere.close();
    return answer;
  }

  it.each([100, 8 * 1024 ** 4 + 512])("is rejected if it has %i bytes", async (length) => {
    const answer = await copyOf(length);
    expect(answer).toMatchObject({ status: 400, code: "CannotVerifyCopySource" });
  });

  it("is accepted if it has whole pages", async () => {
    expect((await copyOf(512)).status).toBe(202);
  });
});
