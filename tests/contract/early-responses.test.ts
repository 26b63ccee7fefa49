import { connect } from "node:net";
import { expect, it } from "vitest";
import { accountSas, version, withQuery } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";

/** Clients such as those of Python send the whole body before they read the response. A server
 *  that closes the connection before resets it, and the client never sees why. */

const held = testServer();
const bodyBytes = 13 * 1024 * 1024;

interface Row {
  readonly service: "blob" | "queue" | "table" | "file";
  readonly request: string;
  readonly headers?: string;
  readonly isChunked?: true;
  readonly isAnonymous?: true;
  readonly status: number;
}

const multipart = "Content-Type: multipart/mixed; boundary=b\r\n";
const rows: readonly Row[] = [
  { service: "blob", request: "POST /?comp=batch", headers: multipart, status: 413 },
  {
    service: "blob",
    request: "POST /?comp=batch",
    headers: multipart,
    isChunked: true,
    status: 413,
  },
  {
    service: "blob",
    request: "PUT /missing/b",
    headers: "x-ms-blob-type: BlockBlob\r\n",
    status: 404,
  },
  { service: "blob", request: "PUT /missing/b", headers: "x-ms-blob-type: None\r\n", status: 400 },
  {
    service: "blob",
    request: "PUT /missing/b",
    headers: "x-ms-blob-type: BlockBlob\r\n",
    isAnonymous: true,
    status: 401,
  },
  { service: "blob", request: "PUT /missing/b?comp=appendblock", status: 404 },
  { service: "blob", request: "PUT /missing/b?comp=blocklist", isChunked: true, status: 404 },
  { service: "queue", request: "POST /missing/messages", status: 413 },
  { service: "table", request: "POST /$batch", headers: multipart, status: 413 },
  { service: "table", request: "POST /missing", isChunked: true, status: 413 },
  {
    service: "file",
    request: "PUT /missing/f?comp=range",
    headers: "x-ms-write: update\r\nx-ms-range: bytes=0-13631487\r\n",
    status: 413,
  },
];

/** Sends all of the request, then reads; resolves with the status line. */
function sendFirst({ service, request, headers = "", isChunked, isAnonymous }: Row) {
  const { port } = new URL(held.server.urls[service] ?? "");
  const [method = "", path = ""] = request.split(" ");
  const account = "/devstoreaccount1";
  const target = isAnonymous ? account + path : account + withQuery(path, accountSas());
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bodyBytes}`;
  const start =
    `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nx-ms-version: ${version}\r\n` +
    `${headers}${length}\r\n\r\n`;
  const body = Buffer.alloc(bodyBytes, "x");
  const chunks = isChunked
    ? [Buffer.from(`${bodyBytes.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]
    : [body];
  return new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", reject);
    socket.write(Buffer.concat([Buffer.from(start), ...chunks]), () => {
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
      });
      socket.on("end", () => resolve(received.split("\r\n", 1)[0] ?? ""));
      socket.end();
    });
  });
}

it.each(rows)("$service: $request sent as a whole gets $status", async (row) => {
  expect(await sendFirst(row)).toMatch(new RegExp(`^HTTP/1.1 ${row.status} `));
});
