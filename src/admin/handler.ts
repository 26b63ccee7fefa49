import type { IncomingMessage, ServerResponse } from "node:http";
import { BodyAborted, BodyTooSlow } from "../http/request/request-body.ts";
import { sourceMarkHeader } from "../http/source/source-reader.ts";
import { isTemporary, StoreClosed } from "../store/store.ts";
import type { AdminContext, RouteContext } from "./admin-context.ts";
import { auditOf } from "./admin-audit.ts";
import { refuse, sendResponse, type AdminResponse } from "./admin-response.ts";
import { findInputError, findQueryError } from "./inputs.ts";
import { gatewayPrefix, type NodeHandler } from "./gateway.ts";
import { PageFiles, servePage } from "./page/serve-page.ts";
import {
  adminRequestOf,
  readJson,
  type AdminRequest,
  type AuthenticatedRequest,
} from "./request.ts";
import { routeTable } from "./route-table.ts";
import { archivePath } from "./views/archives.ts";
import { matchRoute, type Access, type AnyRoute, type PathValues, type Route } from "./routes.ts";
import { AdminAuth, type AuthResult } from "./security/admin-auth.ts";
import { coveredAccounts, maySee, type ResourceName, type Grant } from "./security/grant.ts";

/** The handler of the admin listener, which serves the explorer (the web page), the admin API, the
 *  metrics and the probes. `server/admin-listener.ts` opens the listener with it. */
interface AdminHandler {
  readonly handle: NodeHandler;
  /** The end of an explorer URL that logs in once; undefined if no login is required. */
  loginFragment(): string | undefined;
  /** Closes the event streams, which would otherwise delay the server's stop. */
  close(): void;
}

interface HandlerParts {
  readonly context: AdminContext;
  readonly routeContext: RouteContext;
  readonly auth: AdminAuth;
  readonly routes: readonly AnyRoute[];
  readonly page: PageFiles;
}

const apiPrefix = "/admin/";

/** Creates the handler, with all that its requests share: logins, routes and explorer files. */
export function adminHandler(context: AdminContext): AdminHandler {
  const { accounts, clock, random, security, pageFolder } = context;
  const auth = new AdminAuth({ accounts, clock, random, security });
  const { routes, context: routeContext, close } = routeTable(context, auth);
  const parts = { context, routeContext, auth, routes, page: new PageFiles(pageFolder) };
  return {
    handle: (request, response) => void handle(parts, request, response),
    // A fragment is never sent to a server, so the token does not appear in logs.
    loginFragment: () => (auth.isLoginRequired ? `#login=${auth.links.issue()}` : undefined),
    close,
  };
}

async function handle(
  parts: HandlerParts,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = adminRequestOf(message, parts.context.memory);
  const facts: RequestFacts = { route: undefined, grant: undefined };
  let reply: AdminResponse | undefined;
  try {
    reply = await respond(parts, { request, message, response }, facts);
  } catch (error) {
    if (error instanceof BodyAborted) return;
    reply = failed(parts, message, error);
    if (response.headersSent) return void response.destroy();
  }
  // The archive route writes its own response, but has an entry in the audit log as other routes
  // have.
  if (reply !== undefined || facts.route === archivePath) {
    const { audit } = parts.context;
    const result = reply ?? { status: response.statusCode };
    const audited = audit && isGuarded(request) ? auditOf(request, result, facts) : undefined;
    if (audited !== undefined) audit?.(audited);
  }
  if (reply !== undefined) send(reply, message, response);
}

/** What `respond` has learned of a request, for the audit log. */
interface RequestFacts {
  route: string | undefined;
  grant: Grant | undefined;
}

interface AdminExchange {
  readonly request: AdminRequest;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

/** The response to a request that has thrown. A busy, unavailable or closed store and a slow client
 *  are no bugs: 503 or 408. All else is one: 500, and an entry in the log. */
function failed(
  { context }: HandlerParts,
  { url }: IncomingMessage,
  error: unknown,
): AdminResponse {
  const reason = error instanceof Error ? error.message : String(error);
  if (isTemporary(error) || error instanceof StoreClosed) {
    return refuse(503, "ServerBusy", reason, { "Retry-After": "1" });
  }
  if (error instanceof BodyTooSlow) {
    return refuse(408, "RequestTimeout", reason, { Connection: "close" });
  }
  context.log.error({ err: error, url }, "admin request failed");
  return refuse(500, "InternalError", reason);
}

/** Checks origin, login and parameters, and calls the route. Returns undefined if the route has
 *  written the response itself. */
async function respond(
  parts: HandlerParts,
  { request, message, response }: AdminExchange,
  facts: RequestFacts,
): Promise<AdminResponse | undefined> {
  if (message.headers[sourceMarkHeader] !== undefined) {
    return refuse(403, "CopySource", "the admin listener cannot be a copy source");
  }
  const matched = matchRoute(parts.routes, request);
  const access = matched !== undefined && "route" in matched ? matched.route.access : undefined;
  const foreign = checkOrigin(parts, request, access);
  if (foreign !== undefined) return foreign;
  if (isGuarded(request)) await refreshAccounts(parts);
  if (matched === undefined) return pageOrNothing(parts, request);
  if ("allow" in matched) return notAllowed(request, matched.allow);
  const { route, values } = matched;
  facts.route = route.path;
  const admission =
    route.access === "open" ? noCaller : parts.auth.authenticate(request, route.access);
  if (admission.refusal !== undefined) return admission.refusal;
  const { grant, isValid } = admission;
  facts.grant = grant;
  const accounts = coveredAccounts(parts.context.accounts, grant);
  const sees = (resource: ResourceName): boolean => maySee(parts.context.accounts, grant, resource);
  const { routeContext } = parts;
  const admitted = { ...request, context: routeContext, grant, isValid, accounts, sees };
  if ("serve" in route) {
    const refusal = await route.serve({ request: admitted, message, response });
    return refusal === "unknown" ? notFound(parts, request) : refusal;
  }
  return respondChecked(route, admitted, values);
}

/** Reads accounts that another process has changed. If the store is unavailable, the last known
 *  ones are used, because the health view must work then, too. */
async function refreshAccounts({ context }: HandlerParts): Promise<void> {
  await context.accounts.refresh?.().catch(() => false);
}

/** Checks origin, host and required header. Unknown API paths are checked, too, so that a page of
 *  another site cannot find out which paths exist. */
function checkOrigin(
  { auth }: HandlerParts,
  request: AdminRequest,
  access: Access | undefined,
): AdminResponse | undefined {
  if (!isGuarded(request) && access !== "metrics") return undefined;
  return auth.checkOrigin(request, access ?? "account");
}

function isGuarded({ path }: AdminRequest): boolean {
  return path.startsWith(apiPrefix) || path.startsWith(gatewayPrefix);
}

/** The caller of a route without authentication. It administers no account: no account has the name
 *  "". */
const noCaller: AuthResult = { grant: { kind: "account", account: "" }, isValid: () => true };

async function pageOrNothing(parts: HandlerParts, request: AdminRequest): Promise<AdminResponse> {
  const isRead = request.method === "GET" || request.method === "HEAD";
  const file = isRead && !isGuarded(request) ? await servePage(parts.page, request) : undefined;
  return file ?? notFound(parts, request);
}

async function respondChecked(
  route: Route,
  request: AuthenticatedRequest,
  values: PathValues,
): Promise<AdminResponse> {
  const unfit = lacksJson(route, request);
  if (unfit !== undefined) return unfit;
  const { query = {}, acceptsAnyQuery } = route;
  const wrong = acceptsAnyQuery ? undefined : findQueryError(request.query, query);
  if (wrong !== undefined) return refuse(400, "InvalidInput", wrong);
  const read = expectsJson(route) ? await readJson(request) : noBody;
  if (!read.ok) return read.refusal;
  const mistake = route.body && findInputError(read.body, route.body);
  if (mistake !== undefined) return refuse(400, "InvalidInput", mistake);
  return route.answer({ ...request, body: read.body }, values);
}

const noBody = { ok: true, body: {} } as const;

function notFound({ context }: HandlerParts, { path }: AdminRequest): AdminResponse {
  const dfs = context.dfs === undefined ? [] : ["dfs"];
  const services = [...Object.keys(context.httpServices), ...dfs].join(", ");
  const advice = path.startsWith(gatewayPrefix)
    ? `: /storage/SERVICE/ACCOUNT/… is where the services are, which are ${services}`
    : "";
  return refuse(404, "NotFound", `no resource at ${path}${advice}`);
}

function notAllowed({ method, path }: AdminRequest, allow: string): AdminResponse {
  const message = `${path} takes ${allow}, not ${method}`;
  return refuse(405, "MethodNotAllowed", message, { Allow: allow });
}

/** Rejects a body whose type is not JSON. A page of another site can send JSON only after a CORS
 *  preflight, which fails. */
function lacksJson(route: Route, { headers }: AdminRequest): AdminResponse | undefined {
  if (!expectsJson(route)) return undefined;
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/json") return undefined;
  const given = type === undefined ? "" : `, not ${type}`;
  const message = `Content-Type must be application/json${given}, also without a body`;
  return refuse(415, "UnsupportedMediaType", message);
}

/** Whether the content type must be JSON, even if the body is empty. Exempt are reads, and the
 *  reset, which never has a body. */
function expectsJson({ method, path }: Route): boolean {
  return method !== "GET" && path !== "/admin/v1/reset";
}

function send(answered: AdminResponse, message: IncomingMessage, response: ServerResponse): void {
  message.resume();
  sendResponse(answered, response, message.method);
}
