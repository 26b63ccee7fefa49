import type { IncomingMessage, ServerResponse } from "node:http";
import { sourceMarkHeader } from "../http/source/source-reader.ts";
import { SnapshotTooOld } from "../store/open-views.ts";
import { StoreBusy, StoreClosed, StoreUnavailable } from "../store/store.ts";
import type { Administered } from "./administered.ts";
import { refuse, type Answer } from "./answer.ts";
import { mistakeIn, mistakeInQuery } from "./inputs.ts";
import { Feed } from "./feed/feed.ts";
import { gatewayOf, type NodeHandler } from "./gateway.ts";
import { PageFiles } from "./page/page-files.ts";
import { servePage } from "./page/serve-page.ts";
import { probeRoutes } from "./probes.ts";
import { adminRequestOf, type AdminRequest } from "./request.ts";
import { matchRoute, type PathValues, type Route } from "./routes.ts";
import { Gate } from "./security/gate.ts";
import { accountRoutes } from "./views/accounts.ts";
import { Health, healthRoutes } from "./views/health.ts";
import { leaseRoutes } from "./views/leases.ts";
import { messageRoutes } from "./views/messages.ts";
import { serverRoutes } from "./views/server.ts";
import { smbRoutes } from "./views/smb.ts";
import { timelineRoutes } from "./views/timeline.ts";

export interface AdminHandler {
  readonly handle: NodeHandler;
  /** Ends the streams, which would otherwise keep a stopping server waiting. */
  close(): void;
}

interface Parts {
  readonly administered: Administered;
  readonly gate: Gate;
  readonly routes: readonly Route[];
  readonly gateway: (path: string) => NodeHandler | undefined;
  readonly page: PageFiles;
  readonly feed: Feed;
}

const apiPrefix = "/admin/";
const gatewayPrefix = "/storage/";
const feedPath = "/admin/v1/feed";

export function adminHandler(administered: Administered): AdminHandler {
  const { accounts, clock, random, loginRequired, token, doors, log, pageFolder } = administered;
  const gate = new Gate({ accounts, clock, random, loginRequired, token });
  const health = new Health(administered);
  const feed = new Feed(administered, health);
  const parts: Parts = {
    administered,
    gate,
    feed,
    gateway: gatewayOf(doors, log),
    page: new PageFiles(pageFolder),
    routes: [
      ...probeRoutes(administered),
      ...gate.routes(),
      ...serverRoutes(administered),
      ...accountRoutes(administered),
      ...leaseRoutes(administered),
      ...smbRoutes(administered),
      ...messageRoutes(administered),
      ...timelineRoutes(administered, feed),
      ...healthRoutes(health),
    ],
  };
  return {
    handle: (request, response) => void handle(parts, request, response),
    close: () => feed.close(),
  };
}

async function handle(
  parts: Parts,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = adminRequestOf(message);
  if (message.headers[sourceMarkHeader] !== undefined) {
    send(refuse(403, "CopySource", "the admin listener is no source of copies"), message, response);
    return;
  }
  try {
    const done = admitted(parts, request, message, response);
    if (done !== "answer") return;
    send(await answer(parts, request), message, response);
  } catch (error) {
    const reply = failed(parts, message, error);
    if (response.headersSent) response.destroy();
    else send(reply, message, response);
  }
}

const passing = [StoreBusy, StoreUnavailable, StoreClosed, SnapshotTooOld];

/** An engine that is busy, away or being closed is no bug, and says so to whoever asks. */
function failed({ administered }: Parts, { url }: IncomingMessage, error: unknown): Answer {
  const reason = error instanceof Error ? error.message : String(error);
  if (passing.some((kind) => error instanceof kind)) {
    return refuse(503, "ServerBusy", reason, { "Retry-After": "1" });
  }
  administered.log.error({ err: error, url }, "admin request failed");
  return refuse(500, "InternalError", reason);
}

function isGuarded({ path }: AdminRequest): boolean {
  return path.startsWith(apiPrefix) || path.startsWith(gatewayPrefix);
}

/** Checks who asks, and hands on what is not answered here. */
function admitted(
  { gate, gateway, feed }: Parts,
  request: AdminRequest,
  message: IncomingMessage,
  response: ServerResponse,
): "answer" | "done" {
  const { path } = request;
  const foreign = isGuarded(request) ? gate.checkOrigin(request) : undefined;
  if (foreign !== undefined) return sent(foreign, message, response);
  const handler = gateway(path);
  const isFeed = path === feedPath && request.method === "GET";
  if (path === feedPath && !isFeed) {
    return sent(notAllowed(request, "GET"), message, response);
  }
  if (handler === undefined && !isFeed) return "answer";
  const { refusal, renewed } = gate.checkLogin(request);
  if (refusal !== undefined) return sent(refusal, message, response);
  if (renewed !== undefined) response.setHeader("Set-Cookie", renewed);
  if (handler !== undefined) handler(message, response);
  else feed.open(request, response);
  return "done";
}

function sent(answered: Answer, message: IncomingMessage, response: ServerResponse): "done" {
  send(answered, message, response);
  return "done";
}

async function answer(parts: Parts, request: AdminRequest): Promise<Answer> {
  const { routes, gate, page } = parts;
  const matched = matchRoute(routes, request);
  if (matched === undefined) {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const file = isRead && !isGuarded(request) ? await servePage(page, request) : undefined;
    return file ?? nothingAt(parts, request);
  }
  if ("allow" in matched) return notAllowed(request, matched.allow);
  const { route, values } = matched;
  const { refusal, renewed } = route.open ? { refusal: undefined } : gate.checkLogin(request);
  if (refusal !== undefined) return refusal;
  const answered = await checkedAnswer(route, request, values);
  if (renewed === undefined) return answered;
  return { ...answered, headers: { ...answered.headers, "Set-Cookie": renewed } };
}

async function checkedAnswer(
  route: Route,
  request: AdminRequest,
  values: PathValues,
): Promise<Answer> {
  const unfit = lacksJson(route, request);
  if (unfit !== undefined) return unfit;
  const wrong = route.query && mistakeInQuery(request.query, route.query);
  if (wrong !== undefined) return refuse(400, "InvalidInput", wrong);
  const read = takesJson(route) ? await request.readBody() : noBody;
  if (!read.ok) return read.refusal;
  const mistake = route.body && mistakeIn(read.body, route.body);
  if (mistake !== undefined) return refuse(400, "InvalidInput", mistake);
  return route.answer({ ...request, body: read.body }, values);
}

const noBody = { ok: true, body: {} } as const;

function nothingAt({ administered }: Parts, { path }: AdminRequest): Answer {
  const services = Object.keys(administered.doors).join(", ");
  const advice = path.startsWith(gatewayPrefix)
    ? `: /storage/SERVICE/ACCOUNT/… is where the services are, which are ${services}`
    : "";
  return refuse(404, "NotFound", `there is nothing at ${path}${advice}`);
}

function notAllowed({ method, path }: AdminRequest, allow: string): Answer {
  const message = `${path} takes ${allow}, not ${method}`;
  return refuse(405, "MethodNotAllowed", message, { Allow: allow });
}

/** A form on another site's page cannot send this type without asking first. */
function lacksJson(route: Route, { headers }: AdminRequest): Answer | undefined {
  if (!takesJson(route)) return undefined;
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/json") return undefined;
  const given = type === undefined ? "" : `, not ${type}`;
  const message = `Content-Type must be application/json${given}, also without a body`;
  return refuse(415, "UnsupportedMediaType", message);
}

function takesJson({ method, path }: Route): boolean {
  return method !== "GET" && path !== "/admin/v1/reset";
}

function send(answered: Answer, message: IncomingMessage, response: ServerResponse): void {
  message.resume();
  const { status, headers, body } = answered;
  const hasLength = status !== 204 && status !== 304;
  response.writeHead(status, {
    "X-Content-Type-Options": "nosniff",
    ...(hasLength ? { "Content-Length": Buffer.byteLength(body ?? "") } : {}),
    ...headers,
  });
  response.end(message.method === "HEAD" ? undefined : body);
}
