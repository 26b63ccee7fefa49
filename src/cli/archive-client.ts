import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { adminHeader } from "../admin/security/admin-auth.ts";
import { archivePath, archiveType } from "../admin/views/archives.ts";
import { ArchiveRefused } from "../server/archive/archive-refused.ts";
import { messageIn, NoServer } from "./admin-client.ts";
import type { ServerAddress } from "./find-server.ts";

interface ArchiveCall {
  readonly query: URLSearchParams;
  /** Opens the archive to load, once a server responds; undefined to export. */
  readonly open?: (() => Readable) | undefined;
}

/** Requests an export; the response is the archive. */
export function requestExport(
  server: ServerAddress,
  query: URLSearchParams,
): Promise<IncomingMessage> {
  return call(server, { query });
}

/** Sends an archive; resolves to the report of the server. */
export async function sendArchive(
  server: ServerAddress,
  query: URLSearchParams,
  open: () => Readable,
): Promise<unknown> {
  const response = await call(server, { query, open });
  return JSON.parse(await readText(response)) as unknown;
}

/** Throws `ArchiveRefused` with the message of the server if it rejects the call. `fetch` is not
 *  used: it reports a response that arrives before the body is sent as a failure. */
async function call(
  { url, token }: ServerAddress,
  { query, open }: ArchiveCall,
): Promise<IncomingMessage> {
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  const headers: Record<string, string> = { [adminHeader]: "1" };
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (open !== undefined) headers["content-type"] = archiveType;
  const method = open === undefined ? "GET" : "POST";
  const address = `${url}${archivePath}?${query.toString()}`;
  // A connection of its own, which is not connected before it is used.
  const sent = request(address, { method, headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    let isConnected = false;
    sent.once("response", resolve);
    sent.on("error", (error) => reject(isConnected ? error : noServer(url, error)));
    sent.once("socket", (socket) => {
      socket.once("connect", () => {
        isConnected = true;
        open?.()
          .once("error", (error) => void sent.destroy(error))
          .pipe(sent);
      });
    });
    if (open === undefined) sent.end();
    else sent.flushHeaders();
  });
  if (response.statusCode === 200) return response;
  const message = messageIn(await readText(response));
  sent.destroy();
  throw new ArchiveRefused([message ?? `${url}: the server answered ${response.statusCode}`]);
}

function noServer(url: string, cause: Error): NoServer {
  const problem = `no server responds at ${url}; choose one with --location or --url`;
  return new NoServer(problem, { cause });
}
