import type { AdminContext, Viewed } from "./admin-context.ts";
import { Feed } from "./feed/feed.ts";
import { gatewayRoute } from "./gateway.ts";
import { probeRoutes } from "./probes.ts";
import type { AnyRoute } from "./routes.ts";
import type { AdminAuth } from "./security/admin-auth.ts";
import { sessionRoutes } from "./security/session-routes.ts";
import { accountRoutes } from "./views/accounts.ts";
import { Health, healthRoutes } from "./views/health.ts";
import { leaseRoutes } from "./views/leases.ts";
import { messageRoutes } from "./views/messages.ts";
import { serverRoutes } from "./views/server.ts";
import { smbRoutes } from "./views/smb.ts";
import { timelineRoutes } from "./views/timeline.ts";

export interface RouteTable {
  readonly routes: readonly AnyRoute[];
  readonly feed: Feed;
}

/** Everything that the admin listener serves, except the files of the page. */
export function routeTable({ security, ...viewed }: AdminContext, gate: AdminAuth): RouteTable {
  const health = new Health(viewed);
  const feed = new Feed(viewed, health);
  return { routes: routesOf(viewed, { gate, security, health, feed }), feed };
}

interface Parts extends Pick<AdminContext, "security"> {
  readonly gate: AdminAuth;
  readonly health: Health;
  readonly feed: Feed;
}

function routesOf(viewed: Viewed, { gate, security, health, feed }: Parts): readonly AnyRoute[] {
  return [
    ...probeRoutes(viewed),
    ...sessionRoutes(gate, security.token !== undefined),
    ...serverRoutes(viewed),
    ...accountRoutes(viewed),
    ...leaseRoutes(viewed),
    ...smbRoutes(viewed),
    ...messageRoutes(viewed),
    ...timelineRoutes(viewed, feed),
    ...healthRoutes(health),
    feed.route(),
    gatewayRoute(viewed),
  ];
}
