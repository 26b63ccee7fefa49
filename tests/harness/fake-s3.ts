import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { signedHeaders, type Credentials } from "../../src/content/s3/signature.ts";

/** The part of an S3-compatible store that this project uses, in memory. */
export interface FakeS3 {
  /** `s3://bucket/prefix?endpoint=…` */
  readonly location: string;
  readonly credentials: Credentials;
  readonly objects: Map<string, Buffer>;
  /** Number of requests by method. */
  readonly requests: Map<string, number>;
  /** Responses to the next requests, which are not executed. */
  readonly troubles: (503 | "break" | "lose-answer" | "damage")[];
  /** While true, no request is executed and every connection is closed. */
  isAway: boolean;
  close(): Promise<void>;
}

const bucket = "shelves";
const pageMax = 1000;

interface FakeS3Options {
  readonly host?: string;
  readonly port?: number;
  readonly credentials?: Credentials;
}

const testCredentials = { accessKeyId: "test", secretAccessKey: "secret of the test" };

export async function openFakeS3({
  host = "127.0.0.1",
  port: wantedPort = 0,
  credentials = testCredentials,
}: FakeS3Options = {}): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const requests = new Map<string, number>();
  const troubles: FakeS3["troubles"] = [];
  const state = { isAway: false };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      if (body === undefined) return;
      const { method = "" } = request;
      requests.set(method, (requests.get(method) ?? 0) + 1);
      if (state.isAway) return void request.socket.destroy();
      const trouble = troubles.shift();
      if (trouble === 503) return void response.writeHead(503).end("<Code>SlowDown</Code>");
      if (trouble === "break") return void request.socket.destroy();
      if (!isSigned(request, body, credentials)) return void response.writeHead(403).end();
      if (trouble === "lose-answer") {
        carryOut(objects, request, body);
        return void request.socket.destroy();
      }
      const carriedOut = carryOut(objects, request, body);
      answer(response, trouble === "damage" ? damaged(carriedOut) : carriedOut);
    })();
  }).listen(wantedPort, host);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`);
  return {
    location: `s3://${bucket}/some/where?endpoint=${endpoint}`,
    credentials,
    objects,
    requests,
    troubles,
    get isAway() {
      return state.isAway;
    },
    set isAway(isAway) {
      state.isAway = isAway;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Undefined if the connection was closed before the end of the body. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function isSigned(request: IncomingMessage, body: Buffer, credentials: Credentials): boolean {
  const url = new URL(request.url ?? "", "http://any");
  const { authorization = "", host = "", ...rest } = request.headers;
  const names = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(";") ?? [];
  const unsigned = new Set(["host", "x-amz-date", "x-amz-content-sha256"]);
  const kept = names.filter((name) => !unsigned.has(name));
  const digest = createHash("sha256").update(body).digest("hex");
  const expected = signedHeaders(
    {
      method: request.method ?? "",
      host,
      path: url.pathname,
      bodyDigest: digest,
      headers: Object.fromEntries(kept.map((name) => [name, String(rest[name])])),
      query: Object.fromEntries(url.searchParams),
    },
    { credentials, region: "us-east-1", amzDate: String(rest["x-amz-date"]) },
  );
  return expected["authorization"] === authorization;
}

type Answer = { readonly status: number; readonly body?: Buffer | string };

function damaged({ status, body }: Answer): Answer {
  const bytes = Buffer.from(body ?? "");
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  return { status, body: bytes };
}

function answer(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status).end(body);
}

function carryOut(objects: Map<string, Buffer>, request: IncomingMessage, body: Buffer): Answer {
  const url = new URL(request.url ?? "", "http://any");
  const key = decodeURIComponent(url.pathname).slice(`/${bucket}/`.length);
  if (request.method === "PUT") {
    objects.set(key, body);
    return { status: 200 };
  }
  if (request.method === "DELETE") {
    objects.delete(key);
    return { status: 204 };
  }
  if (key === "") return { status: 200, body: listing(objects, url.searchParams) };
  const found = objects.get(key);
  if (found === undefined) return { status: 404, body: "<Code>NoSuchKey</Code>" };
  const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
  if (range === null) return { status: 200, body: found };
  return { status: 206, body: found.subarray(Number(range[1]), Number(range[2]) + 1) };
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
  const delimiter = query.get("delimiter");
  const folderOf = (key: string): string | undefined => {
    const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
    return end < 0 ? undefined : key.slice(0, end + 1);
  };
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && key > after)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const entries = [
    ...new Set(
      keys.map((key) => {
        const folder = folderOf(key);
        return folder === undefined
          ? `<Contents><Key>${key}</Key></Contents>`
          : `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`;
      }),
    ),
  ].slice(0, Math.min(pageMax, Number(query.get("max-keys") ?? pageMax)));
  return `<?xml version="1.0"?><ListBucketResult>${entries.join("")}</ListBucketResult>`;
}
