import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { findQueryError, oneOf, optional, textCheck } from "../inputs.ts";
import { refusePage, type AdminRequest } from "../request.ts";
import type { RawCall, RawRoute } from "../routes.ts";

/** The routes that export accounts to an archive and load one, for `etagere export` and `etagere
 *  load`. Exports reveal all data, so the audit log records them although they change nothing. */

export const archivePath = "/admin/v1/archive";
/** Trailer of an export, sent after the archive: the report of what it contains. */
export const reportTrailer = "x-etagere-report";
/** Header of an export: its approximate size before compression, for the progress that the command
 *  shows. Sent only if the request has this header with the value `wanted`. */
export const totalHeader = "x-etagere-total-bytes";
/** Header of an export: `true` if the data is stored encrypted. Then the command encrypts it,
 *  too. */
export const encryptedHeader = "x-etagere-encrypted";
export const archiveType = "application/vnd.etagere.archive";

const flag = optional(oneOf(["true", "false"]));
const exportQuery = { accounts: optional(textCheck), withKeys: flag };
const loadQuery = { as: optional(textCheck), replace: flag };

const common = { path: archivePath, access: "server" } as const;

export const archiveRoutes: readonly RawRoute[] = [
  { ...common, method: "GET", serve: exportAll },
  { ...common, method: "POST", serve: load },
];

async function exportAll({ request, response }: RawCall): Promise<AdminResponse | undefined> {
  const wrong = refusePage(request) ?? refuseQuery(request, exportQuery);
  if (wrong !== undefined) return wrong;
  const names = request.query.get("accounts") ?? "";
  const accounts = names === "" ? [] : names.split(",");
  const withKeys = request.query.get("withKeys") === "true";
  // Requested by a header, not a parameter: older servers ignore unknown headers only.
  const isMeasured = request.headers[totalHeader] === "wanted";
  const onTotal = isMeasured
    ? (bytes: number): void => void response.setHeader(totalHeader, bytes)
    : undefined;
  const sink = sinkOf(response);
  const { archives } = request.context;
  if (archives.isEncrypted) response.setHeader(encryptedHeader, "true");
  const exported = archives.export({ accounts, withKeys, sink, onTotal });
  const result = await unlessGone(response, exported);
  if (result === undefined) return undefined;
  if (result.ok) {
    response.addTrailers({ [reportTrailer]: JSON.stringify(result.report) });
    return void response.end();
  }
  // Destroys the connection, so the client sees an archive without end frame, which is incomplete.
  if (response.headersSent) return void response.destroy();
  return refuse(404, "NotExported", result.problems.join("; "));
}

/** Returns the function that sends the bytes of an archive. The head of the response is sent with
 *  the first bytes, because a problem that is found earlier has a status of its own. */
function sinkOf(response: ServerResponse): (bytes: Uint8Array) => Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return async (bytes) => {
    if (!response.headersSent) {
      response.writeHead(200, {
        "Content-Type": archiveType,
        "Cache-Control": "no-store",
        Trailer: reportTrailer,
      });
    }
    gone.signal.throwIfAborted();
    if (!response.write(bytes)) await once(response, "drain", { signal: gone.signal });
  };
}

async function load({ request, message, response }: RawCall): Promise<AdminResponse | undefined> {
  const wrong = refusePage(request) ?? refuseType(request) ?? refuseQuery(request, loadQuery);
  if (wrong !== undefined) return wrong;
  const as = request.query.get("as") ?? "";
  const replace = request.query.get("replace") === "true";
  const options = { as: as === "" ? undefined : as, replace };
  // A rejected archive is not read to its end. Without the option its iterator would then destroy
  // the connection, after a response that promises to keep it open, or before the response.
  const archive = message.iterator({ destroyOnReturn: false });
  const result = await unlessGone(response, request.context.archives.load(archive, options));
  if (result === undefined) return undefined;
  if (result.ok) return json(result.report);
  return refuse(409, "NotLoaded", result.problems.join("\n"), unreadRest(message));
}

/** An archive that was not read to its end is discarded by closing the connection. */
function unreadRest({ readableEnded }: IncomingMessage) {
  return readableEnded ? {} : { Connection: "close" };
}

/** The result, or undefined if it failed after the client had closed the connection: such a failure
 *  needs no answer. */
async function unlessGone<T>(response: ServerResponse, result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (response.destroyed || response.socket?.destroyed !== false) return undefined;
    throw error;
  }
}

function refuseQuery(
  { query }: AdminRequest,
  checks: Parameters<typeof findQueryError>[1],
): AdminResponse | undefined {
  const wrong = findQueryError(query, checks);
  return wrong === undefined ? undefined : refuse(400, "InvalidInput", wrong);
}

function refuseType({ headers }: AdminRequest): AdminResponse | undefined {
  if (headers["content-type"] === archiveType) return undefined;
  return refuse(415, "UnsupportedMediaType", `Content-Type must be ${archiveType}`);
}
