import type { AdminContext, ViewContext, RouteContext } from "./admin-context.ts";
import { Feed } from "./feed/feed.ts";
import { gatewayRoute } from "./gateway.ts";
import { identityRoutes } from "./identity/identity-routes.ts";
import { declareRoute, type AnyRoute, type Route } from "./routes.ts";
import type { AdminAuth } from "./security/admin-auth.ts";
import { PrincipalLogin } from "./security/principal-login.ts";
import { sessionRoutes } from "./security/session-routes.ts";
import { accountChangeRoutes, accountRoutes } from "./views/accounts.ts";
import { archiveRoutes } from "./views/archives.ts";
import { Health, healthRoutes } from "./views/health.ts";
import { HealthHistory } from "./views/health-history.ts";
import { leaseRoutes } from "./views/leases.ts";
import { messageRoute } from "./views/messages.ts";
import { policyRoutes } from "./views/policies.ts";
import { recordingRoute, timelineRoute } from "./views/timeline.ts";
import { snapshotRoutes } from "./views/snapshots.ts";
import { smbRoutes } from "./views/smb.ts";
import { stateRoute } from "./views/states.ts";
import { EventStreams } from "./views/event-stream.ts";
import { subscriptionRoutes } from "./views/subscriptions.ts";
import { storedRoute } from "./views/stored.ts";
import { waitRoute } from "./views/waits.ts";
import { nothing, refuse, text, json, type AdminResponse } from "./admin-response.ts";
import type { ServiceName } from "../protocol/names.ts";
import { formatIso } from "../base/dates.ts";
import { refusePage, type CheckedRequest } from "./request.ts";

/** The routes of the admin listener, and what they share: the request feed, and the samples of the
 *  health page. Samples are taken as long as the listener is open. */
interface RouteTable {
  readonly routes: readonly AnyRoute[];
  readonly context: RouteContext;
  /** Closes the streams and stops the timers of the feed and of the samples. */
  readonly close: () => void;
}

/** All routes of the admin listener except the files of the explorer. */
export function routeTable({ security, ...given }: AdminContext, auth: AdminAuth): RouteTable {
  const health = new Health(given);
  const feed = new Feed(given, health);
  const history = new HealthHistory(given, {
    refusalsByRule: () => feed.refusalsByRule,
    measureBytes: () => health.stored(),
  });
  const context: RouteContext = { ...given, feed, health, history };
  const streams = new EventStreams(given);
  const close = (): void => {
    streams.close();
    feed.close();
    history.close();
  };
  const principals = new PrincipalLogin(context);
  const routes = [
    ...probeRoutes,
    ...sessionRoutes({ auth, principals, hasToken: security.token !== undefined }),
    serverRoute(context),
    ...snapshotRoutes,
    ...archiveRoutes,
    ...accountRoutes,
    ...accountChangeRoutes(auth),
    ...subscriptionRoutes,
    streams.route(),
    ...leaseRoutes,
    ...smbRoutes,
    messageRoute,
    timelineRoute(context),
    recordingRoute(context),
    stateRoute(context),
    waitRoute,
    storedRoute,
    ...policyRoutes,
    ...healthRoutes,
    ...(context.identity === undefined ? [] : identityRoutes(context.identity)),
    feed.route(),
    gatewayRoute(context),
  ];
  return { routes, context, close };
}

/** Content type of the text format of Prometheus. */
const exposition = "text/plain; version=0.0.4; charset=utf-8";

/** Probes, for example of Kubernetes, the metrics, and the reset for tests. */
const probeRoutes: readonly Route[] = [
  declareRoute("GET /healthz", "open", () => text("ok\n"), { acceptsAnyQuery: true }),
  declareRoute("GET /readyz", "open", answerReady, { acceptsAnyQuery: true }),
  declareRoute("GET /metrics", "metrics", answerMetrics, { acceptsAnyQuery: true }),
  declareRoute("POST /admin/v1/reset", "server", answerReset, { acceptsAnyQuery: true }),
];

async function answerMetrics({ context }: CheckedRequest): Promise<AdminResponse> {
  return text(await context.metrics(), 200, exposition);
}

async function answerReady({ context }: CheckedRequest): Promise<AdminResponse> {
  try {
    await context.ready();
    return text("ready\n");
  } catch (error) {
    return text(`${error instanceof Error ? error.message : String(error)}\n`, 503);
  }
}

async function answerReset(request: CheckedRequest): Promise<AdminResponse> {
  const { reset } = request.context;
  if (reset === undefined) {
    return refuse(403, "ResetNotAllowed", "the server must be started with --enableReset");
  }
  const refusal = refusePage(request);
  if (refusal !== undefined) return refusal;
  await reset();
  return nothing;
}

/** The route with version, addresses and features of the server, for the explorer and commands. */
function serverRoute(context: ViewContext): Route {
  const startedAt = formatIso(context.clock.wall());
  return declareRoute("GET /admin/v1/server", "principal", () =>
    json(serverInfo(context, startedAt)),
  );
}

export type ServerInfo = ReturnType<typeof serverInfo>;

/** `smb` is null if SMB is not served; `clients`: the programs of the latest connections to this
 *  process, latest first. */
function serverInfo({ clock, facts, reset }: ViewContext, startedAt: string) {
  const { version, adminUrl, smbUrl, store, content, urls, clients } = facts();
  const services: Partial<Record<ServiceName, { readonly url: string; readonly gateway: string }>> =
    Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [name, { url, gateway: `/storage/${name}` }]),
    );
  return {
    version,
    now: formatIso(clock.wall()),
    startedAt,
    adminUrl,
    store,
    content,
    resetAllowed: reset !== undefined,
    services,
    smb: smbUrl === "" ? null : { url: smbUrl },
    clients,
  };
}
