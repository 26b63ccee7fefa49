import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";

/** A request to the admin listener, as its routes see it. */
export interface AdminRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  readonly secure: boolean;
  /** The parsed body; undefined if there is none, or it is no JSON object, or too long. */
  readonly body: () => Promise<JsonObject | undefined>;
}

export type JsonObject = Readonly<Record<string, unknown>>;

const bodyBytesMax = 64 * 1024;

export function adminRequestOf(message: IncomingMessage): AdminRequest {
  const [path = "/", query = ""] = splitOnce(message.url ?? "/", "?");
  return {
    method: message.method ?? "GET",
    path,
    query: new URLSearchParams(query),
    headers: message.headers,
    remoteAddress: message.socket.remoteAddress ?? "",
    secure: (message.socket as Partial<TLSSocket>).encrypted === true,
    body: () => readJson(message),
  };
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

async function readJson(message: IncomingMessage): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** A whole number of the query within bounds; the default if it is not there. */
export function countOf(
  query: URLSearchParams,
  name: string,
  { standard, max }: { readonly standard: number; readonly max: number },
): number {
  const given = query.get(name) ?? "";
  return /^\d{1,9}$/.test(given) ? Math.min(Math.max(Number(given), 1), max) : standard;
}
