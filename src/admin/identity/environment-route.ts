import { developerPrincipal } from "../../account/identity.ts";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { optional, textCheck } from "../inputs.ts";
import type { AnyRoute } from "../routes.ts";
import type { IdentityContext } from "./identity-context.ts";

type Variables = Readonly<Record<string, string>>;

/** The variables that `etagere env` prints. They contain secrets: only for the admin token, or on a
 *  server without a login. With `principal`, those of the client-credentials flow for it. */
export function environmentRoute(context: IdentityContext): AnyRoute {
  return {
    method: "GET",
    path: "/admin/v1/identity/environment",
    access: "server",
    query: { principal: optional(textCheck) },
    answer: async ({ query }) => {
      const name = query.get("principal") ?? "";
      if (name !== "") return clientVariables(context, name);
      return json({ variables: { ...(await managedVariables(context)), ...trustOf(context) } });
    },
  };
}

/** The variables with which libraries trust the certificate authority. */
function trustOf({ authorityFile: file }: IdentityContext): Variables {
  if (file === undefined) return {};
  return { NODE_EXTRA_CA_CERTS: file, REQUESTS_CA_BUNDLE: file, SSL_CERT_FILE: file };
}

async function managedVariables(context: IdentityContext): Promise<Variables> {
  const { identity, local, address } = context;
  const { managedIdentity, principals } = identity();
  const isDeveloper = principals.includes(developerPrincipal);
  const secret = managedIdentity?.secret ?? (isDeveloper ? await secretOf(local) : undefined);
  if (secret === undefined) return {};
  return { IDENTITY_ENDPOINT: `${address()}/identity/token`, IDENTITY_HEADER: secret };
}

async function secretOf(local: IdentityContext["local"]): Promise<string> {
  return (await local.load()).developerSecret;
}

async function clientVariables(context: IdentityContext, name: string): Promise<AdminResponse> {
  const { identity, local, secureAddress } = context;
  const principal = identity().principals.find((each) => each.name === name);
  if (principal?.secret === undefined) {
    return refuse(404, "NotFound", "no principal of this name has a secret");
  }
  const authority = secureAddress();
  if (authority === undefined) {
    return refuse(409, "HttpsRequired", "client libraries need HTTPS: start with --https");
  }
  const { tenantId } = await local.load();
  const variables = {
    AZURE_AUTHORITY_HOST: authority,
    AZURE_TENANT_ID: tenantId,
    AZURE_CLIENT_ID: principal.clientId,
    AZURE_CLIENT_SECRET: principal.secret,
    ...trustOf(context),
  };
  return json({ variables });
}
