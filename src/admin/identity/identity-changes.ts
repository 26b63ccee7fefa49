import type { ChangeResult } from "../../account/change-result.ts";
import type { NewPrincipal, PrincipalChange } from "../../account/identity-manager.ts";
import type { PrincipalSettings } from "../../account/identity.ts";
import { changeRefused, json, nothing, type AdminResponse } from "../admin-response.ts";
import { optional, textCheck, type Check } from "../inputs.ts";
import { declareRoute, type Route } from "../routes.ts";
import { renderPrincipal, type PrincipalInfo } from "./identity-view.ts";
import type { IdentityContext } from "./token-issuer.ts";

/** Routes that create, change and delete stored principals and role assignments, for the explorer
 *  and `etagere principal`. Only the admin token permits them, so that no role and no account key
 *  can be used to gain more rights. */

const listCheck: Check = (value) => (Array.isArray(value) ? undefined : "must be a list of ids");
const flagCheck: Check = (value) =>
  typeof value === "boolean" ? undefined : "must be true or false";
const fieldChecks = {
  clientId: optional(textCheck),
  secret: optional(textCheck),
  groups: optional(listCheck),
  newSecret: optional(flagCheck),
};

export function identityChangeRoutes({ manager }: IdentityContext): readonly Route[] {
  const create: Route["answer"] = async ({ body }) => {
    const given = withoutMissing(body) as unknown as NewPrincipal;
    return changed(given, await manager.createPrincipal(given), 201);
  };
  const change: Route["answer"] = async ({ body }, { name = "" }) =>
    changed(body, await manager.changePrincipal(name, body));
  const remove: Route["answer"] = async (_, { name = "" }) =>
    removed(await manager.deletePrincipal(name));
  const assign: Route["answer"] = async ({ body }) => {
    const result = await manager.assignRole(withoutMissing(body));
    return result.ok ? json({ id: result.value }, 201) : changeRefused(result);
  };
  const unassign: Route["answer"] = async (_, { id = "" }) =>
    removed(await manager.removeAssignment(id));
  const newChecks = { name: textCheck, objectId: optional(textCheck), ...fieldChecks };
  return [
    declareRoute("POST /admin/v1/principals", "server", create, { body: newChecks }),
    declareRoute("PATCH /admin/v1/principals/:name", "server", change, { body: fieldChecks }),
    declareRoute("DELETE /admin/v1/principals/:name", "server", remove),
    declareRoute("POST /admin/v1/role-assignments", "server", assign),
    declareRoute("DELETE /admin/v1/role-assignments/:id", "server", unassign),
  ];
}

type Body = Readonly<Record<string, unknown>>;

/** The fields that have a value. A form of the explorer sends those that the user left empty as
 *  null or "". */
function withoutMissing(body: Body): Body {
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== null && value !== ""),
  );
}

export interface ChangedPrincipal extends PrincipalInfo {
  /** Set if the request has chosen or asked for a new secret; no other response has it. */
  readonly secret?: string | undefined;
}

/** Renders a principal, with the secret if the request has changed it. */
function changed(
  { secret: given, newSecret }: PrincipalChange,
  result: ChangeResult<PrincipalSettings>,
  status = 200,
): AdminResponse {
  if (!result.ok) return changeRefused(result);
  const { secret } = result.value;
  const isNew = newSecret === true || (given !== undefined && given !== null);
  const principal = renderPrincipal({ ...result.value, isStored: true });
  return json({ ...principal, ...(isNew && { secret }) } satisfies ChangedPrincipal, status);
}

function removed(result: ChangeResult<undefined>): AdminResponse {
  return result.ok ? nothing : changeRefused(result);
}
