import type { AdminContext, ViewContext } from "./admin-context.ts";
import { Feed } from "./feed/feed.ts";
import { gatewayRoute } from "./gateway.ts";
import { identityRoutes } from "./identity/identity-routes.ts";
import { probeRoutes } from "./probes.ts";
import type { AnyRoute } from "./routes.ts";
import type { AdminAuth } from "./security/admin-auth.ts";
import { PrincipalLogin } from "./security/principal-login.ts";
import { sessionRoutes } from "./security/session-routes.ts";
import { accountChangeRoutes } from "./views/account-changes.ts";
import { accountRoutes } from "./views/accounts.ts";
import { archiveRoutes } from "./views/archives.ts";
import { Health, healthRoutes } from "./views/health.ts";
import { HealthHistory } from "./views/health-history.ts";
import { leaseRoutes } from "./views/leases.ts";
import { messageRoutes } from "./views/messages.ts";
import { policyRoutes } from "./views/policies.ts";
import { serverRoutes } from "./views/server.ts";
import { snapshotRoutes } from "./views/snapshots.ts";
import { smbRoutes } from "./views/smb.ts";
import { stateRoutes } from "./views/states.ts";
import { storedRoutes } from "./views/stored.ts";
import { timelineRoutes } from "./views/timeline.ts";
import { waitRoutes } from "./views/waits.ts";

export interface RouteTable {
  readonly routes: readonly AnyRoute[];
  /** Ends streams and timers. */
  readonly close: () => void;
}

/** All routes of the admin listener except the files of the explorer. */
export function routeTable({ security, ...context }: AdminContext, auth: AdminAuth): RouteTable {
  const health = new Health(context);
  const history = new HealthHistory(context);
  const feed = new Feed(context, health);
  const close = (): void => {
    feed.close();
    history.close();
  };
  return { routes: routesOf(context, { auth, security, health, history, feed }), close };
}

interface Parts extends Pick<AdminContext, "security"> {
  readonly auth: AdminAuth;
  readonly health: Health;
  readonly history: HealthHistory;
  readonly feed: Feed;
}

function routesOf(
  context: ViewContext,
  { auth, security, health, history, feed }: Parts,
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
    ...leaseRoutes(context),
    ...smbRoutes(context),
    ...messageRoutes(context),
    ...timelineRoutes(context, feed),
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
