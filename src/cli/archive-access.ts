import type { ServerArchives } from "../commands/archive/server-archives.ts";
import { ArchiveRefused } from "../commands/refused.ts";
import {
  adminTokenOf,
  findServer,
  messageIn,
  NoServer,
  type ServerAddress,
} from "./admin-client.ts";
import { checkOptions, locationOf, withStores } from "./with-stores.ts";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { adminHeader } from "../admin/security/admin-auth.ts";
import { archivePath, archiveType } from "../admin/views/archives.ts";

/** Options of `export` and `load` that choose the server or the store. */
export const archiveOptions = {
  url: { type: "string" },
  location: { type: "string", short: "l" },
  tokenFile: { type: "string" },
  store: { type: "string" },
  storeFile: { type: "string" },
  content: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Their lines in the help. */
export const archiveHelp: readonly string[] = [
  "  -l, --location FOLDER   the server that uses this data folder, or the folder (.etagere)",
  "      --url URL           address of the admin listener, for example http://127.0.0.1:10010",
  "      --tokenFile FILE    file with the admin token, or the variable ETAGERE_ADMIN_TOKEN; not",
  "                          needed if the data folder is readable",
  "      --store URL         without a server: records in postgres://…; --storeFile FILE: a file",
  "                          that contains it",
  "      --content URL       without a server: contents in s3://…",
  "      --json              print JSON",
];

/** Options that name the stores themselves. */
const directOptions = ["store", "storeFile", "content"] as const;

type Texts = ReadonlyMap<string, string>;

/** Why the options contradict each other; undefined if they do not. */
export function findContradiction(texts: Texts): string | undefined {
  const isDirect = directOptions.some((name) => texts.has(name));
  if (texts.has("url") && texts.has("location")) return "--url contradicts --location";
  return texts.has("url") && isDirect ? "--url contradicts --store and --content" : undefined;
}

interface ArchiveAccess<T> {
  readonly onServer: (server: ServerAddress) => Promise<T>;
  readonly onStore: (archives: ServerArchives) => Promise<T>;
  /** Whether a data folder is created if it does not exist. */
  readonly mayCreate: boolean;
}

/** Uses the server of the location if one responds, else the stores themselves: several processes
 *  may use them, so a server that starts meanwhile does no harm. */
export async function accessArchives<T>(texts: Texts, access: ArchiveAccess<T>): Promise<T> {
  const [url, location] = [texts.get("url"), texts.get("location")];
  const isDirect = directOptions.some((name) => texts.has(name));
  if (isDirect) return onStores(texts, access);
  const found = url === undefined ? await findServer(location) : { url };
  const given = await adminTokenOf({ tokenFile: texts.get("tokenFile") });
  if (found === undefined) return onStores(texts, access);
  try {
    const token = given ?? ("token" in found ? found.token : undefined);
    return await access.onServer({ ...found, token });
  } catch (error) {
    if (!(error instanceof NoServer) || url !== undefined) throw error;
    return onStores(texts, access);
  }
}

async function onStores<T>(texts: Texts, { onStore, mayCreate }: ArchiveAccess<T>): Promise<T> {
  const names = ["location", ...directOptions];
  const given = Object.fromEntries(
    names.flatMap((name) => (texts.has(name) ? [[name, texts.get(name) ?? ""]] : [])),
  );
  const options = await checkOptions(given);
  const location = locationOf(options);
  const { isMissing } = await import("../data/data-locations.ts");
  if (!mayCreate && isMissing({ records: options.store ?? location, bytes: undefined })) {
    throw new ArchiveRefused([`${location}: not a data folder, and no server uses it`]);
  }
  const { folderArchives } = await import("../commands/archive/server-archives.ts");
  return withStores(options, (stores, world) => onStore(folderArchives(stores, world)));
}

export function figures(records: number, contentBytes: number): string {
  const size = (contentBytes / 1024 / 1024).toFixed(1);
  return `${records.toLocaleString("en")} records, ${size} MiB of contents`;
}

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
