import type { ServerArchives } from "../commands/archive/server-archives.ts";
import { ArchiveRefused } from "../host/refused.ts";
import type { Values } from "./command.ts";
import {
  adminHeaders,
  addressOptions,
  jsonOption,
  messageIn,
  NoServer,
  onServerOrStore,
  type ServerAddress,
} from "./admin-client.ts";
import { checkOptions, locationOf, storeOptions, withStores } from "./with-stores.ts";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { archivePath, archiveType, totalHeader } from "../admin/views/archives.ts";

/** How `export` and `load` reach the accounts: through the admin API of a running server, or by
 *  opening the stores of the server. */

/** Options of `export` and `load`: they name a running server, or the stores to open. */
export const archiveOptions = {
  ...addressOptions,
  ...storeOptions,
  url: { ...addressOptions.url, excludes: ["location", ...Object.keys(storeOptions)] },
  archiveKey: {
    kind: "text",
    value: "SOURCE",
    help: "master key of an encrypted archive: file:PATH, env:NAME or command:…",
  },
  ...jsonOption,
} as const;

type ArchiveValues = Omit<Values<typeof archiveOptions>, "json" | "archiveKey">;

interface ArchiveAccess<T> {
  readonly onServer: (server: ServerAddress) => Promise<T>;
  readonly onStore: (archives: ServerArchives) => Promise<T>;
  /** Whether a data folder that does not exist is created: by `load`, not by `export`. */
  readonly mayCreate: boolean;
  /** Called before a data folder is opened, which may create it. */
  readonly beforeOpening?: () => Promise<void>;
}

/** Exports or loads through the server of the location if one responds, else with its stores. */
export async function accessArchives<T>(
  given: ArchiveValues,
  access: ArchiveAccess<T>,
): Promise<T> {
  const { store, storeFile, content, encryption } = given;
  const onStore = (): Promise<T> => onStores(given, access);
  const isDirect = [store, storeFile, content, encryption].some((each) => each !== undefined);
  return isDirect ? onStore() : onServerOrStore(given, { onServer: access.onServer, onStore });
}

async function onStores<T>(
  { location: folder, store, storeFile, content, encryption }: ArchiveValues,
  { onStore, mayCreate, beforeOpening }: ArchiveAccess<T>,
): Promise<T> {
  const options = await checkOptions({
    location: folder,
    store,
    storeFile,
    content,
    encryption,
  });
  const location = locationOf(options);
  const { isMissing } = await import("../data/data-locations.ts");
  if (!mayCreate && isMissing({ records: options.store ?? location, bytes: undefined })) {
    throw new ArchiveRefused([`${location}: not a data folder, and no server uses it`]);
  }
  const { folderArchives } = await import("../commands/archive/server-archives.ts");
  await beforeOpening?.();
  return withStores(options, (stores, world) => onStore(folderArchives(stores, world)));
}

interface ArchiveCall {
  readonly query: URLSearchParams;
  /** Opens the archive to load, once a server responds; undefined for an export. */
  readonly open?: (() => Readable) | undefined;
}

/** Requests an export; the response is the archive. */
export function requestExport(
  server: ServerAddress,
  query: URLSearchParams,
): Promise<IncomingMessage> {
  return call(server, { query });
}

/** Sends an archive for the server to load; resolves to its report. */
export async function sendArchive(
  server: ServerAddress,
  query: URLSearchParams,
  open: () => Readable,
): Promise<unknown> {
  const response = await call(server, { query, open });
  return JSON.parse(await readText(response)) as unknown;
}

/** Sends a request for an export, or with an archive to load. Throws `ArchiveRefused` with the
 *  message of the server if it rejects the call. `fetch` is not used: it reports a response that
 *  arrives before the body is sent as a failure. */
async function call(server: ServerAddress, { query, open }: ArchiveCall): Promise<IncomingMessage> {
  const { url } = server;
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  const headers = adminHeaders(server);
  if (open !== undefined) headers["content-type"] = archiveType;
  else headers[totalHeader] = "wanted";
  const method = open === undefined ? "GET" : "POST";
  const address = `${url}${archivePath}?${query.toString()}`;
  // A connection of its own: whether it gets connected decides whether there is a server.
  const sent = request(address, { method, headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    let isConnected = false;
    sent.once("response", resolve);
    sent.on("error", (error) => reject(isConnected ? error : new NoServer(url, error)));
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
