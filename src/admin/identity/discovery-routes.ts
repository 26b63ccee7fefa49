import { json, refuse, type AdminResponse } from "../admin-response.ts";
import type { AnyRoute, PathValues } from "../routes.ts";
import type { IdentityContext } from "./identity-context.ts";
import { publishedKeys, type IdentityData } from "./local-identity.ts";

type Answer = (data: IdentityData) => unknown;

/** The documents that clients of an OpenID Connect provider ask for, in the paths of Entra ID. */
export function discoveryRoutes(context: IdentityContext): readonly AnyRoute[] {
  const configuration: Answer = (data) => configurationOf(context, data);
  const route = (path: string, answer: Answer): AnyRoute => ({
    method: "GET",
    path,
    access: "open",
    answer: (_, values) => answerTenant(context, values, answer),
  });
  return [
    route("/:tenant/v2.0/.well-known/openid-configuration", configuration),
    route("/:tenant/.well-known/openid-configuration", configuration),
    route("/:tenant/discovery/v2.0/keys", publishedKeys),
    {
      method: "GET",
      path: "/common/discovery/instance",
      access: "open",
      answer: async () => json(await instanceOf(context)),
    },
  ];
}

async function answerTenant(
  { local }: IdentityContext,
  { tenant }: PathValues,
  answer: Answer,
): Promise<AdminResponse> {
  const data = await local.load();
  if (tenant !== data.tenantId) return refuse(404, "NotFound", "unknown tenant");
  return json(answer(data));
}

function configurationOf({ address, issuer }: IdentityContext, data: IdentityData) {
  const base = `${address()}/${data.tenantId}`;
  return {
    issuer: issuer.issuer(data),
    token_endpoint: `${base}/oauth2/v2.0/token`,
    authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
    jwks_uri: `${base}/discovery/v2.0/keys`,
    response_types_supported: ["token"],
    grant_types_supported: ["client_credentials"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
  };
}

/** Which hosts belong together, as client libraries ask before they trust an authority. */
async function instanceOf({ address, local }: IdentityContext) {
  const { tenantId } = await local.load();
  const { host } = new URL(address());
  return {
    tenant_discovery_endpoint: `${address()}/${tenantId}/v2.0/.well-known/openid-configuration`,
    "api-version": "1.1",
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  };
}
