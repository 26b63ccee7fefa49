import { request } from "node:http";
import { BlobServiceClient } from "@azure/storage-blob";
import { beforeAll, describe, expect, it } from "vitest";
import { testServer } from "../harness/server.ts";

const held = testServer();
let service: BlobServiceClient;

beforeAll(async () => {
  service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  await service.setProperties({
    staticWebsite: { enabled: true, indexDocument: "index.html", errorDocument404Path: "404.html" },
  });
  const container = service.getContainerClient("$web");
  await container.create();
  const pages = {
    "index.html": "home",
    "docs/index.html": "docs",
    "404.html": "lost",
    "a.txt": "a",
  };
  for (const [name, text] of Object.entries(pages)) {
    const blobHTTPHeaders = { blobContentType: "text/html" };
    await container.getBlockBlobClient(name).upload(text, text.length, { blobHTTPHeaders });
  }
});

interface Asked {
  readonly path: string;
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({ path, host, method = "GET", headers = {} }: Asked) {
  const url = new URL(held.server.urls.blob ?? "");
  const named = host === undefined ? {} : { host };
  return new Promise<{ status: number; body: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      const sent = request(
        { host: url.hostname, port: url.port, path, method, headers: { ...headers, ...named } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              body: Buffer.concat(chunks).toString(),
              headers: response.headers,
            }),
          );
        },
      );
      sent.on("error", reject);
      sent.end();
    },
  );
}

const byHost = (path: string) => ({ path, host: "devstoreaccount1.web.localhost" });
const byPath = (path: string) => ({ path: `/devstoreaccount1.web${path}` });

describe.each([
  ["by host", byHost],
  ["by path", byPath],
] as const)("the static website %s", (_form, at) => {
  it.each([
    ["/", 200, "home"],
    ["/a.txt", 200, "a"],
    ["/docs", 200, "docs"],
    ["/docs/", 200, "docs"],
    ["/docs/index.html", 200, "docs"],
    ["/none", 404, "lost"],
    ["/none/below", 404, "lost"],
    ["/A.txt", 404, "lost"],
  ])("returns %s without credentials", async (path, status, body) => {
    expect(await ask(at(path))).toMatchObject({ status, body });
  });

  it("evaluates conditions and ranges", async () => {
    const { headers } = await ask(at("/a.txt"));
    const again = { headers: { "if-none-match": String(headers["etag"]) } };
    expect((await ask({ ...at("/a.txt"), ...again })).status).toBe(304);
    const part = await ask({ ...at("/"), headers: { range: "bytes=1-2" } });
    expect(part).toMatchObject({ status: 206, body: "om" });
  });

  it("rejects writes", async () => {
    expect((await ask({ ...at("/a.txt"), method: "PUT" })).status).toBeGreaterThanOrEqual(400);
    expect((await ask({ ...at("/a.txt"), method: "DELETE" })).status).toBe(405);
  });
});

describe("the static website", () => {
  it("does not make its container public on the blob endpoint", async () => {
    const answer = await ask({ path: "/devstoreaccount1/$web/a.txt" });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  it("is not served after it is disabled", async () => {
    await service.setProperties({ staticWebsite: { enabled: false } });
    expect(await ask(byHost("/"))).toMatchObject({ status: 404 });
  });
});
