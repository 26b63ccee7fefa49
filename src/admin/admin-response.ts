import { changeFaults, type ChangeFault } from "../account/change-result.ts";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { formatIso } from "../base/dates.ts";
import { ticksMax, ticksPerMillisecond, type Ticks } from "../base/ticks.ts";

/** The response of a route of the admin listener. `handler.ts` sends it; the functions below make
 *  the usual ones, and format the times in them. */
export interface AdminResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

const jsonType = "application/json; charset=utf-8";

export function json(
  value: unknown,
  status = 200,
  headers: OutgoingHttpHeaders = {},
): AdminResponse {
  return {
    status,
    headers: { "Content-Type": jsonType, "Cache-Control": "no-store", ...headers },
    body: JSON.stringify(value),
  };
}

export function text(
  body: string,
  status = 200,
  type = "text/plain; charset=utf-8",
): AdminResponse {
  return { status, headers: { "Content-Type": type, "Cache-Control": "no-store" }, body };
}

/** An error response; `code` is for programs, the text for people. */
export function refuse(
  status: number,
  code: string,
  message: string,
  headers: OutgoingHttpHeaders = {},
): AdminResponse {
  return json({ error: { code, message } }, status, headers);
}

/** The response to a change of an account, principal or subscription that was rejected. */
export function changeRefused({ code, message }: ChangeFault): AdminResponse {
  return refuse(changeFaults[code], code, message);
}

export function noAccount(name: string): AdminResponse {
  return refuse(404, "AccountNotFound", `no account ${JSON.stringify(name)}`);
}

export const nothing: AdminResponse = { status: 204 };

/** Sends a response, always with Content-Length: Hadoop does not accept the response of the token
 *  service without one. */
export function sendResponse(
  { status, headers, body }: AdminResponse,
  response: ServerResponse,
  method: string | undefined,
): void {
  const hasLength = status !== 204 && status !== 304;
  response.writeHead(status, {
    "X-Content-Type-Options": "nosniff",
    ...(hasLength ? { "Content-Length": Buffer.byteLength(body ?? "") } : {}),
    ...headers,
  });
  response.end(method === "HEAD" ? undefined : body);
}

/** Begins a response of server-sent events (request feed, event log), which stays open. */
export function beginEventStream(response: ServerResponse): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
}

/** One server-sent event. After a reconnect the client sends the `id` of the last event it got. */
export function eventText(event: string, data: object, id?: string): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return `event: ${event}\n${idLine}data: ${JSON.stringify(data)}\n\n`;
}

/** Seconds from `now` to `moment`, with three decimals; 0 if it has passed. */
export function secondsUntil(moment: Ticks, now: Ticks): number {
  return moment <= now ? 0 : Number((moment - now) / ticksPerMillisecond) / 1000;
}

/** The expiry of a message in ISO 8601; null for the latest time that can be stored, which means
 *  that the message never expires. */
export function momentOrNever(moment: Ticks): string | null {
  return moment >= ticksMax ? null : formatIso(moment);
}
