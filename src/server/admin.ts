import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../core/world.ts";
import type { Handler } from "./listener.ts";
import { messageOf } from "./start-refused.ts";

export interface Administered {
  readonly log: Log;
  /** Resolves when requests can be served; rejects with the reason if not. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => string;
  /** Absent unless it was asked for at the start. */
  readonly reset: (() => Promise<void>) | undefined;
}

interface Answer {
  readonly status: number;
  readonly text?: string;
  readonly type?: string;
  readonly allow?: string;
}

type Route = (administered: Administered, request: IncomingMessage) => Promise<Answer> | Answer;

const routes: Readonly<Record<string, { readonly method: string; readonly answer: Route }>> = {
  "/healthz": { method: "GET", answer: () => ({ status: 200, text: "ok\n" }) },
  "/readyz": { method: "GET", answer: answerReady },
  "/metrics": {
    method: "GET",
    answer: ({ metrics }) => ({
      status: 200,
      text: metrics(),
      type: "text/plain; version=0.0.4; charset=utf-8",
    }),
  },
  "/admin/v1/reset": { method: "POST", answer: answerReset },
};

/** For probes and tests on the same machine; it is bound to the loopback address alone. */
export function adminHandler(administered: Administered): Handler {
  return (request, response) => void answer(administered, request, response);
}

async function answer(
  administered: Administered,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let reply: Answer;
  try {
    reply = await route(administered, request);
  } catch (error) {
    administered.log.error({ err: error, url: request.url }, "admin request failed");
    reply = { status: 500, text: `${messageOf(error)}\n` };
  }
  request.resume();
  response.writeHead(reply.status, {
    ...(reply.text === undefined
      ? {}
      : { "Content-Type": reply.type ?? "text/plain; charset=utf-8" }),
    ...(reply.allow === undefined ? {} : { Allow: reply.allow }),
  });
  response.end(request.method === "HEAD" ? undefined : reply.text);
}

function route(administered: Administered, request: IncomingMessage): Promise<Answer> | Answer {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  const found = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (found === undefined) return { status: 404, text: "no such page\n" };
  const method = request.method === "HEAD" ? "GET" : request.method;
  if (method !== found.method) return { status: 405, allow: found.method };
  return found.answer(administered, request);
}

async function answerReady({ ready }: Administered): Promise<Answer> {
  try {
    await ready();
    return { status: 200, text: "ready\n" };
  } catch (error) {
    return { status: 503, text: `${messageOf(error)}\n` };
  }
}

async function answerReset({ reset }: Administered, request: IncomingMessage): Promise<Answer> {
  if (reset === undefined) return { status: 403, text: "start with --enableReset to allow this\n" };
  // Browsers send an origin: no page that happens to be open may delete everything.
  if (request.headers.origin !== undefined) return { status: 403, text: "not from a page\n" };
  await reset();
  return { status: 204 };
}
