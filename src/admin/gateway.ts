import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceName } from "../protocol/names.ts";
import type { Log } from "../base/world.ts";
import type { HttpService } from "../http/http-service.ts";
import { nodeHandler, type Serve } from "../http/handler.ts";
import { locate } from "../http/request/target.ts";
import { handleRequest, meterOf } from "../http/pipeline.ts";
import type { WireRequest } from "../http/wire.ts";
import type { ViewContext } from "./admin-context.ts";
import { noAccount, sendResponse } from "./admin-response.ts";
import type { RawCall, RawRoute } from "./routes.ts";
import type { PrincipalGrant } from "./security/grant.ts";

/** The gateway passes requests for `/storage/SERVICE/ACCOUNT/…` of the admin listener to the
 *  storage services of this process. The explorer, a web page, thus reaches the services on its own
 *  origin, where no CORS rules apply, and with its login. */

/** The function that Node's HTTP server calls for each request. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void;

export const gatewayPrefix = "/storage/";
const bearer = "Bearer ";

/** Content-Security-Policy of forwarded responses. Stored content may be a page with scripts, which
 *  must not run with the origin of the explorer. */
const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

interface Gateway {
  readonly httpService: HttpService;
  readonly handle: NodeHandler;
  /** Like `handle`, for a request to which the gateway has added the token of a principal. */
  readonly handleToken: NodeHandler;
  readonly log: Log;
}

/** The route of all paths below `/storage/`. `dfs`: the Data Lake API of the blob service. */
export function gatewayRoute({
  httpServices,
  dfs,
  log,
}: Pick<ViewContext, "httpServices" | "dfs" | "log">): RawRoute {
  const gateways = new Map<string, Gateway>();
  for (const [name, httpService] of Object.entries(httpServices))
    gateways.set(name, gatewayOf(httpService, log));
  if (dfs !== undefined) gateways.set("dfs", gatewayOf(dfs, log));
  return {
    method: "*",
    path: `${gatewayPrefix}:service/*`,
    access: "principal",
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

function gatewayOf(httpService: HttpService, log: Log): Gateway {
  const serve: Serve = async (request) => {
    const reply = await handleRequest(httpService, request);
    reply.headers["Content-Security-Policy"] = sandbox;
    reply.headers["X-Content-Type-Options"] = "nosniff";
    reply.headers["Cross-Origin-Resource-Policy"] = "same-origin";
    return reply;
  };
  const { memory, unsent, clock } = httpService;
  const options = { memory, unsent, clock, meter: meterOf(httpService) };
  // The services accept bearer tokens over HTTPS only, so that none crosses a network in plain
  // text. This token is passed on within the process.
  const serveToken: Serve = (request) => serve({ ...request, secure: true });
  return {
    httpService,
    handle: nodeHandler(serve, log, options),
    handleToken: nodeHandler(serveToken, log, options),
    log,
  };
}

function pass(gateway: Gateway, prefixLength: number, call: RawCall) {
  const { httpService, handle } = gateway;
  const { request, message, response } = call;
  const rest = message.url?.slice(prefixLength) ?? "";
  message.url = rest.startsWith("/") ? rest : `/${rest}`;
  // A bearer token here is for the gateway: the admin token. The services would reject it, because
  // they accept access tokens only.
  if (message.headers.authorization?.startsWith(bearer)) delete message.headers.authorization;
  if (request.grant.kind === "principal") {
    void passAsPrincipal(gateway, request.grant, call);
    return undefined;
  }
  if (request.grant.kind === "account") {
    const account = accountIn(httpService, message);
    if (account !== undefined && request.accounts.get(account) === undefined) {
      return noAccount(account);
    }
  }
  handle(message, response);
  return undefined;
}

/** Passes on a request of a caller that is logged in as a principal, with a token of that
 *  principal: the service decides what its roles permit. */
async function passAsPrincipal(
  { httpService, handleToken, log }: Gateway,
  grant: PrincipalGrant,
  { message, response }: RawCall,
): Promise<void> {
  try {
    message.headers.authorization = `${bearer}${await grant.token()}`;
  } catch (error) {
    log.error({ err: error }, "token of a principal not issued; answered 500");
    sendResponse({ status: 500 }, response, message.method);
    return;
  }
  // The File service accepts bearer tokens only in requests with this header.
  if (httpService.service.name === "file") message.headers["x-ms-file-request-intent"] = "backup";
  handleToken(message, response);
}

/** The account of a request as the service will resolve it, perhaps from the host name; a caller
 *  with an account key may use only its own. Undefined if the service will reject the request. */
function accountIn(
  httpService: HttpService,
  { url = "/", headers }: IncomingMessage,
): string | undefined {
  const named = { target: url, headers, secure: false } as Partial<WireRequest> as WireRequest;
  const location = locate(named, httpService);
  return location.ok ? location.value.account : undefined;
}
