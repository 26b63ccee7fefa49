import { developerPrincipal } from "../../account/identity.ts";
import { json } from "../admin-response.ts";
import type { AnyRoute } from "../routes.ts";
import type { IdentityContext } from "./identity-context.ts";

/** The variables that `etagere env` prints. They contain secrets: only for the admin token, or on a
 *  server without a login. */
export function environmentRoute(context: IdentityContext): AnyRoute {
  return {
    method: "GET",
    path: "/admin/v1/identity/environment",
    access: "server",
    query: {},
    answer: async () => json({ variables: await variablesOf(context) }),
  };
}

async function variablesOf(context: IdentityContext): Promise<Readonly<Record<string, string>>> {
  const { identity, local, address, authorityFile: file } = context;
  const { managedIdentity, principals } = identity();
  const isDeveloper = principals.includes(developerPrincipal);
  const secret = managedIdentity?.secret ?? (isDeveloper ? await secretOf(local) : undefined);
  const trust = file && {
    NODE_EXTRA_CA_CERTS: file,
    REQUESTS_CA_BUNDLE: file,
    SSL_CERT_FILE: file,
  };
  const endpoint = secret !== undefined && {
    IDENTITY_ENDPOINT: `${address()}/identity/token`,
    IDENTITY_HEADER: secret,
  };
  return { ...endpoint, ...trust };
}

async function secretOf(local: IdentityContext["local"]): Promise<string> {
  return (await local.load()).developerSecret;
}
