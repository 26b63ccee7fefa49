import { noIdentity } from "../../src/account/identity.ts";
import { accountsOf } from "../../src/account/settings.ts";
import type { AdminContext } from "../../src/admin/admin-context.ts";
import { routeTable } from "../../src/admin/route-table.ts";
import type { AnyRoute } from "../../src/admin/routes.ts";
import { AdminAuth } from "../../src/admin/security/admin-auth.ts";
import { simWorld } from "../harness/sim-world.ts";

/** The declared routes of the admin listener, from a server that is not started. */
export function declaredRoutes(): readonly AnyRoute[] {
  const { clock, random, log } = simWorld(1);
  const security = {
    isLoginRequired: () => true,
    isMetricsLoginRequired: true,
    token: undefined,
    localToken: undefined,
  };
  const accounts = accountsOf([]);
  const httpServices = { blob: {}, queue: {}, table: {}, file: {} };
  const figures = { sample: () => undefined };
  const identity = { identity: () => noIdentity };
  const observer = { watch: undefined };
  const served = { httpServices, figures, identity, security, observer, pageFolder: "." };
  const fake = { clock, random, log, accounts, ...served };
  const gate = new AdminAuth({ accounts, clock, random, security });
  return routeTable(fake as unknown as AdminContext, gate).routes;
}
