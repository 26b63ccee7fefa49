import type { AdminContext, ViewContext } from "./admin-context.ts";
import { Feed } from "./feed/feed.ts";
import { gatewayRoute } from "./gateway.ts";
import { identityRoutes } from "./identity/identity-routes.ts";
import type { AnyRoute, Route } from "./routes.ts";
import type { AdminAuth } from "./security/admin-auth.ts";
import { PrincipalLogin } from "./security/principal-login.ts";
import { sessionRoutes } from "./security/session-routes.ts";
import { accountChangeRoutes, accountRoutes } from "./views/accounts.ts";
import { archiveRoutes } from "./views/archives.ts";
import { Health, healthRoutes } from "./views/health.ts";
import { HealthHistory } from "./views/health-history.ts";
import { leaseRoutes } from "./views/leases.ts";
import { messageRoutes } from "./views/messages.ts";
import { policyRoutes } from "./views/policies.ts";
import { recordingRoutes } from "./views/recording.ts";
import { serverRoutes } from "./views/server.ts";
import { snapshotRoutes } from "./views/snapshots.ts";
import { smbRoutes } from "./views/smb.ts";
import { stateRoutes } from "./views/states.ts";
import { EventStreams } from "./views/event-stream.ts";
import { subscriptionRoutes } from "./views/subscriptions.ts";
import { storedRoutes } from "./views/stored.ts";
import { timelineRoutes } from "./views/timeline.ts";
import { waitRoutes } from "./views/waits.ts";
import { nothing, refuse, text, type AdminResponse } from "./admin-response.ts";
import type { AdminRequest } from "./request.ts";

interface RouteTable {
  readonly routes: readonly AnyRoute[];
  /** Ends streams and timers. */
  readonly close: () => void;
}

/** All routes of the admin listener except the files of the explorer. */
export function routeTable({ security, ...context }: AdminContext, auth: AdminAuth): RouteTable {
  const health = new Health(context);
  const feed = new Feed(context, health);
  const history = new HealthHistory(context, {
    refusalsByRule: () => feed.refusalsByRule,
    measureBytes: () => health.stored(),
  });
  const streams = new EventStreams(context);
  const close = (): void => {
    streams.close();
    feed.close();
    history.close();
  };
  return { routes: routesOf(context, { auth, security, health, history, feed, streams }), close };
}

interface Parts extends Pick<AdminContext, "security"> {
  readonly auth: AdminAuth;
  readonly health: Health;
  readonly history: HealthHistory;
  readonly feed: Feed;
  readonly streams: EventStreams;
}

function routesOf(
  context: ViewContext,
  { auth, security, health, history, feed, streams }: Parts,
): readonly AnyRoute[] {
  const principals = new PrincipalLogin(context);
  return [
    ...probeRoutes(context),
    ...sessionRoutes({ auth, principals, hasToken: security.token !== undefined }),
    ...serverRoutes(context),
    ...snapshotRoutes(context),
    ...archiveRoutes(context),
    ...accountRoutes(context),
    ...accountChangeRoutes(context),
    ...subscriptionRoutes(context),
    streams.route(),
    ...leaseRoutes(context),
    ...smbRoutes(context),
    ...messageRoutes(context),
    ...timelineRoutes(context, feed),
    ...recordingRoutes(context, feed),
    ...stateRoutes(context),
    ...waitRoutes(context, feed),
    ...storedRoutes(context),
    ...policyRoutes(context),
    ...healthRoutes(health, history),
    ...(context.identity === undefined ? [] : identityRoutes(context.identity)),
    feed.route(),
    gatewayRoute(context),
  ];
}

const exposition = "text/plain; version=0.0.4; charset=utf-8";

/** Probes, metrics and the reset for tests. */
function probeRoutes(context: ViewContext): readonly Route[] {
  return [
    { method: "GET", path: "/healthz", access: "open", answer: () => text("ok\n") },
    { method: "GET", path: "/readyz", access: "open", answer: () => answerReady(context) },
    {
      method: "GET",
      path: "/metrics",
      access: "metrics",
      answer: async () => text(await context.metrics(), 200, exposition),
    },
    {
      method: "POST",
      path: "/admin/v1/reset",
      access: "server",
      answer: (request) => answerReset(context, request),
    },
  ];
}

async function answerReady({ ready }: ViewContext): Promise<AdminResponse> {
  try {
    await ready();
    return text("ready\n");
  } catch (error) {
    return text(`${error instanceof Error ? error.message : String(error)}\n`, 503);
  }
}

async function answerReset(
  { reset }: ViewContext,
  { headers }: AdminRequest,
): Promise<AdminResponse> {
  if (reset === undefined) {
    return refuse(403, "ResetNotAllowed", "the server must be started with --enableReset");
  }
  // Only browsers send this header. A web page must not be able to delete everything.
  if (headers.origin !== undefined) return refuse(403, "NotFromAPage", "not allowed from a page");
  await reset();
  return nothing;
}
