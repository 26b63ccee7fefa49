import { json, refuse, type AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import type { AnyRoute, PathValues } from "../routes.ts";
import type { IdentityContext } from "./identity-context.ts";
import { publishedKeys, type IdentityData } from "./local-identity.ts";
import { issuerAt } from "./token-issuer.ts";

/** `base` is the address of the admin listener with the protocol of the request. */
type Answer = (data: IdentityData, base: string) => unknown;

/** The documents that clients of an OpenID Connect provider ask for, in the paths of Entra ID. */
export function discoveryRoutes(context: IdentityContext): readonly AnyRoute[] {
  const route = (path: string, answer: Answer): AnyRoute => ({
    method: "GET",
    path,
    access: "open",
    answer: (request, values) => answerTenant(context, request, values, answer),
  });
  return [
    route("/:tenant/v2.0/.well-known/openid-configuration", configurationOf),
    route("/:tenant/.well-known/openid-configuration", configurationOf),
    route("/:tenant/discovery/v2.0/keys", publishedKeys),
    {
      method: "GET",
      path: "/common/discovery/instance",
      access: "open",
      answer: async (request) => json(await instanceOf(context, baseOf(context, request))),
    },
  ];
}

function baseOf(context: IdentityContext, { secure }: AdminRequest): string {
  return (secure ? context.secureAddress() : undefined) ?? context.address();
}

async function answerTenant(
  context: IdentityContext,
  request: AdminRequest,
  { tenant }: PathValues,
  answer: Answer,
): Promise<AdminResponse> {
  const data = await context.local.load();
  if (tenant !== data.tenantId) return refuse(404, "NotFound", "unknown tenant");
  return json(answer(data, baseOf(context, request)));
}

function configurationOf({ tenantId }: IdentityData, base: string) {
  const tenant = `${base}/${tenantId}`;
  return {
    issuer: issuerAt(base, tenantId),
    token_endpoint: `${tenant}/oauth2/v2.0/token`,
    authorization_endpoint: `${tenant}/oauth2/v2.0/authorize`,
    jwks_uri: `${tenant}/discovery/v2.0/keys`,
    response_types_supported: ["token"],
    grant_types_supported: ["client_credentials"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  };
}

/** Which hosts belong together, as client libraries ask before they trust an authority. */
async function instanceOf({ local }: IdentityContext, base: string) {
  const { tenantId } = await local.load();
  const { host } = new URL(base);
  return {
    tenant_discovery_endpoint: `${base}/${tenantId}/v2.0/.well-known/openid-configuration`,
    "api-version": "1.1",
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  };
}
