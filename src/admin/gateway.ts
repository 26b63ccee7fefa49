import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceName } from "../core/operation.ts";
import type { Log } from "../core/world.ts";
import type { Door } from "../http/door.ts";
import { nodeHandler } from "../http/handler.ts";
import { serveRequest } from "../http/serve.ts";
import type { Doors } from "./administered.ts";

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

const gatewayPrefix = "/storage/";
const bearer = "Bearer ";

/** What is stored may be a page with scripts: it must not run as if it were the explorer. */
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/** Hands requests to the services themselves, so that a page reaches all of them on one origin. */
export function gatewayOf(doors: Doors, log: Log): (path: string) => NodeHandler | undefined {
  const handlers = new Map<string, NodeHandler>();
  for (const [name, door] of Object.entries(doors)) handlers.set(name, handlerOf(door, log));
  return (path) => {
    if (!path.startsWith(gatewayPrefix)) return undefined;
    const end = path.indexOf("/", gatewayPrefix.length);
    const name = path.slice(gatewayPrefix.length, end < 0 ? undefined : end);
    const handler = handlers.get(name);
    return handler && withoutPrefix(handler, gatewayPrefix.length + name.length);
  };
}

export function gatewayPath(service: ServiceName, account: string): string {
  return `${gatewayPrefix}${service}/${account}`;
}

function handlerOf(door: Door, log: Log): NodeHandler {
  return nodeHandler(async (request) => {
    const reply = await serveRequest(door, request);
    reply.headers["Content-Security-Policy"] = sandbox;
    reply.headers["X-Content-Type-Options"] = "nosniff";
    reply.headers["Cross-Origin-Resource-Policy"] = "same-origin";
    return reply;
  }, log);
}

function withoutPrefix(handler: NodeHandler, length: number): NodeHandler {
  return (request, response) => {
    const rest = request.url?.slice(length) ?? "";
    request.url = rest.startsWith("/") ? rest : `/${rest}`;
    // That one was for us; the service has bearers of its own.
    if (request.headers.authorization?.startsWith(bearer)) delete request.headers.authorization;
    handler(request, response);
  };
}
