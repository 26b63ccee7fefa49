import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Log } from "../base/world.ts";
import { locationOptions, type HttpService } from "../http/http-service.ts";
import { nodeHandler, type Serve } from "../http/handler.ts";
import { locate } from "../http/location.ts";
import { handleRequest, meterOf } from "../http/pipeline.ts";
import type { WireRequest } from "../http/wire.ts";
import type { Viewed } from "./admin-context.ts";
import { noAccount } from "./admin-response.ts";
import type { RawCall, RawRoute } from "./routes.ts";

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

export const gatewayPrefix = "/storage/";
const bearer = "Bearer ";

/** What is stored may be a page with scripts: it must not run as if it were the explorer. */
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

interface Gateway {
  readonly door: HttpService;
  readonly handle: NodeHandler;
}

/** Hands requests to the services themselves, so that a page reaches all of them on one origin. */
export function gatewayRoute({ doors, log }: Pick<Viewed, "doors" | "log">): RawRoute {
  const gateways = new Map<string, Gateway>();
  for (const [name, door] of Object.entries(doors)) gateways.set(name, gatewayOf(door, log));
  return {
    method: "*",
    path: `${gatewayPrefix}:service/*`,
    access: "account",
    serve: (call) => {
      const [, , name = ""] = call.request.path.split("/");
      const gateway = gateways.get(name);
      if (gateway === undefined) return "unknown";
      return pass(gateway, gatewayPrefix.length + name.length, call);
    },
  };
}

export function gatewayPath(service: ServiceName, account: string): string {
  return `${gatewayPrefix}${service}/${account}`;
}

function gatewayOf(door: HttpService, log: Log): Gateway {
  const serve: Serve = async (request) => {
    const reply = await handleRequest(door, request);
    reply.headers["Content-Security-Policy"] = sandbox;
    reply.headers["X-Content-Type-Options"] = "nosniff";
    reply.headers["Cross-Origin-Resource-Policy"] = "same-origin";
    return reply;
  };
  const { memory, clock } = door;
  return { door, handle: nodeHandler(serve, log, { memory, clock, meter: meterOf(door) }) };
}

function pass({ door, handle }: Gateway, prefixLength: number, call: RawCall) {
  const { request, message, response } = call;
  const rest = message.url?.slice(prefixLength) ?? "";
  message.url = rest.startsWith("/") ? rest : `/${rest}`;
  // That one was for us; the service has bearers of its own.
  if (message.headers.authorization?.startsWith(bearer)) delete message.headers.authorization;
  if (request.grant.kind === "account") {
    const account = accountIn(door, message);
    if (account !== undefined && request.accounts.get(account) === undefined) {
      return noAccount(account);
    }
  }
  handle(message, response);
  return undefined;
}

/** By the service's own rules, also where the host names it; undefined if it will refuse. */
function accountIn(door: HttpService, { url = "/", headers }: IncomingMessage): string | undefined {
  const named = { target: url, headers, secure: false } as Partial<WireRequest> as WireRequest;
  const location = locate(named, locationOptions(door));
  return location.ok ? location.value.account : undefined;
}
