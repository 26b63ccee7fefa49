import type { ServerResponse } from "node:http";
import { developerPrincipal, type PrincipalSettings } from "../../account/identity.ts";
import { BodyAborted, BodyTooSlow } from "../../http/request/request-body.ts";
import { json, refuse, sendResponse, type AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import { declareRoute, type AnyRoute, type PathValues, type Route } from "../routes.ts";
import { FailureLimiter, isSameSecret } from "../security/admin-auth.ts";
import { isCrossSite, isLoopback, isOwnHost } from "../security/same-origin.ts";
import { identityChangeRoutes } from "./identity-changes.ts";
import { identityViewRoute } from "./identity-view.ts";
import {
  assertionOf,
  audienceOf,
  issuerAt,
  issueToken,
  publishedKeys,
  tokenLifeSeconds,
  type IdentityContext,
  type IdentityData,
} from "./token-issuer.ts";
import { optional, textCheck } from "../inputs.ts";

/** The routes of the token service, with which Azure's client libraries log in to this server as
 *  they do to Microsoft Entra ID: managed identities in the forms of App Service and of virtual
 *  machines, client credentials, and the OpenID Connect documents (docs/IDENTITY.md). */
export function identityRoutes(context: IdentityContext): readonly AnyRoute[] {
  const failures = new FailureLimiter();
  const parts = { context, failures };
  return [
    openRoute("/identity/token", (request) => answerAppService(parts, request)),
    openRoute("/metadata/identity/oauth2/token", (request) => answerMetadata(parts, request)),
    ...["/:tenant/oauth2/v2.0/token", "/:tenant/oauth2/token"].map((path): AnyRoute => ({
      method: "*",
      path,
      access: "open",
      serve: ({ request, response }) => {
        if (request.method !== "POST") return "unknown";
        void serveForm(parts, request, response);
        return undefined;
      },
    })),
    ...discoveryRoutes(context),
    environmentRoute(context),
    identityViewRoute(context),
    ...identityChangeRoutes(context),
  ];
}

async function serveForm(
  parts: Parts,
  request: AdminRequest,
  response: ServerResponse,
): Promise<void> {
  let answered: AdminResponse;
  try {
    answered = await answerClient(parts, request, await readForm(request));
  } catch (error) {
    if (error instanceof BodyAborted) return;
    if (error instanceof BodyTooSlow) return void response.destroy();
    parts.context.log.error({ err: error }, "token request failed");
    answered = oauthError(500, "server_error", "the token could not be issued");
  }
  sendResponse(answered, response, request.method);
}

interface Parts {
  readonly context: IdentityContext;
  readonly failures: FailureLimiter;
}

function oauthError(status: number, error: string, description: string): AdminResponse {
  return json({ error, error_description: description }, status);
}

const notConfigured = oauthError(
  404,
  "not_found",
  "no managed identity is configured; see docs/IDENTITY.md",
);

/** The developer identity: a principal that exists, without configuration, on a server that only
 *  this machine can reach. Undefined if it does not exist. */
function developerOf({ identity }: IdentityContext): PrincipalSettings | undefined {
  return identity().principals.find((each) => each === developerPrincipal);
}

/** Answers a client that uses the variables IDENTITY_ENDPOINT and IDENTITY_HEADER, as in App
 *  Service: the header must contain the secret of the managed identity. */
async function answerAppService(
  { context, failures }: Parts,
  request: AdminRequest,
): Promise<AdminResponse> {
  // Any host name is accepted: a page whose own name resolves to this machine lacks the secret.
  const foreign = refusePage(request);
  if (foreign !== undefined) return foreign;
  const { managedIdentity } = context.identity();
  const developer = developerOf(context);
  if (managedIdentity === undefined && developer === undefined) return notConfigured;
  const given = request.headers["x-identity-header"];
  // Loaded before the limit is checked: no `await` may separate the check from the count.
  const developerSecret = developer && (await context.local.load()).developerSecret;
  const limited = refuseAfterFailures(context, failures, request);
  if (limited !== undefined) return limited;
  const configured = managedIdentity?.secret;
  const isGiven = (secret: string | undefined): boolean =>
    typeof given === "string" && secret !== undefined && isSameSecret(given, secret);
  if (isGiven(configured)) return answerToken(context, managedIdentity?.principal, request);
  if (isGiven(developerSecret)) return answerToken(context, developer, request);
  failures.failed(request.remoteAddress, context.clock.monotonic());
  return oauthError(401, "unauthorized_client", "X-IDENTITY-HEADER is not the configured secret");
}

/** Headers that proxies add: the client may be another machine. */
const forwardingHeaders = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/** Answers a client that asks as on a virtual machine of Azure. That form has no secret, so it gets
 *  tokens of the developer identity only, and only for programs of this machine. */
async function answerMetadata({ context }: Parts, request: AdminRequest): Promise<AdminResponse> {
  const foreign = refusePage(request) ?? refuseHost(request);
  if (foreign !== undefined) return foreign;
  const developer = developerOf(context);
  const isHere = isLoopback(request.remoteAddress.replace(/^::ffff:/, ""));
  const isForwarded = forwardingHeaders.some((name) => request.headers[name] !== undefined);
  if (developer === undefined || !isHere || isForwarded) return notConfigured;
  if (request.headers["metadata"]?.toString().toLowerCase() !== "true") {
    return oauthError(400, "invalid_request", "the header Metadata: true is required");
  }
  return answerToken(context, developer, request);
}

/** Rejects requests of browsers: a web page must not get a token. */
function refusePage({ headers }: AdminRequest): AdminResponse | undefined {
  if (!isCrossSite(headers) && headers.origin === undefined) return undefined;
  return oauthError(403, "access_denied", "not allowed from a page");
}

/** Rejects a page whose own host name resolves to this machine (DNS rebinding). */
function refuseHost({ headers }: AdminRequest): AdminResponse | undefined {
  if (isOwnHost(headers.host)) return undefined;
  return oauthError(403, "access_denied", "use an address or localhost as the host");
}

/** Issues a token for a managed identity, in the form of App Service and virtual machines. */
async function answerToken(
  context: IdentityContext,
  principal: PrincipalSettings | undefined,
  { query }: AdminRequest,
): Promise<AdminResponse> {
  const ids = ["client_id", "object_id", "principal_id", "msi_res_id", "mi_res_id"].flatMap(
    (name) => query.getAll(name),
  );
  const isOther = ids.some((id) => id !== principal?.clientId && id !== principal?.objectId);
  if (principal === undefined || isOther) {
    return oauthError(400, "invalid_request", "Identity not found");
  }
  const resource = query.get("resource") ?? "";
  const audience = audienceOf(resource);
  if (audience === undefined) {
    return oauthError(400, "invalid_resource", "resource must be https://storage.azure.com");
  }
  const { accessToken, expiresOn } = await issueToken(context, principal, audience);
  return json({
    access_token: accessToken,
    client_id: principal.clientId,
    expires_in: String(tokenLifeSeconds),
    expires_on: String(expiresOn),
    not_before: String(expiresOn - tokenLifeSeconds),
    resource,
    token_type: "Bearer",
  });
}

/** Answers the client-credentials flow of OAuth 2.0 (RFC 6749, 4.4): a principal sends its id with
 *  its secret, or with an assertion instead. */
async function answerClient(
  { context, failures }: Parts,
  request: AdminRequest,
  form: URLSearchParams | undefined,
): Promise<AdminResponse> {
  const foreign = refusePage(request);
  if (foreign !== undefined) return foreign;
  if (form === undefined) return oauthError(400, "invalid_request", "a form is required");
  const { tenantId } = await context.local.load();
  // A secret that another process has replaced must not give a token. If the store is unavailable,
  // a token would be of no use either.
  await context.refresh();
  const [, tenant] = request.path.split("/");
  if (tenant !== tenantId) return oauthError(400, "invalid_request", "unknown tenant");
  if (form.get("grant_type") !== "client_credentials") {
    return oauthError(400, "unsupported_grant_type", "grant_type must be client_credentials");
  }
  const limited = refuseAfterFailures(context, failures, request);
  if (limited !== undefined) return limited;
  const principal = clientOf(context, form, tenantId);
  if (principal === undefined) {
    failures.failed(request.remoteAddress, context.clock.monotonic());
    return oauthError(401, "invalid_client", "unknown client id or wrong secret");
  }
  const audience = audienceOf(form.get("scope") ?? form.get("resource") ?? "");
  if (audience === undefined) {
    return oauthError(400, "invalid_scope", "scope must be https://storage.azure.com/.default");
  }
  const base = request.secure ? context.secureAddress() : undefined;
  const { accessToken } = await issueToken(context, principal, audience, base);
  const lasting = { expires_in: tokenLifeSeconds, ext_expires_in: tokenLifeSeconds };
  return json({ token_type: "Bearer", ...lasting, access_token: accessToken });
}

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The principal whose secret or client assertion the form contains; undefined without one. */
function clientOf({ identity }: IdentityContext, form: URLSearchParams, tenantId: string) {
  const id = form.get("client_id")?.toLowerCase();
  const found = identity().principals.find(({ clientId }) => clientId.toLowerCase() === id);
  const isAsserted = form.get("client_assertion_type") === assertionType;
  const given = form.get(isAsserted ? "client_assertion" : "client_secret") ?? "";
  // Compared also for an unknown client, so that the time does not reveal whether it exists.
  const secret = found?.secret ?? "";
  const isRight = isSameSecret(given, isAsserted ? assertionOf(secret, tenantId) : secret);
  return found?.secret !== undefined && isRight ? found : undefined;
}

function refuseAfterFailures(
  { clock }: IdentityContext,
  failures: FailureLimiter,
  { remoteAddress }: AdminRequest,
): AdminResponse | undefined {
  const seconds = failures.waitSeconds(remoteAddress, clock.monotonic());
  if (seconds === 0) return undefined;
  const body = { error: "temporarily_unavailable", error_description: "too many failures" };
  return json(body, 429, { "Retry-After": String(seconds) });
}

/** Renders a document; `base`: the admin listener's address with the protocol of the request. */
type Answer = (data: IdentityData, base: string) => unknown;

/** The documents that clients of an OpenID Connect provider ask for, in the paths of Entra ID. */
function discoveryRoutes(context: IdentityContext): readonly AnyRoute[] {
  const tenantRoute = (path: `/${string}`, answer: Answer): AnyRoute =>
    openRoute(path, (request, values) => answerTenant(context, request, values, answer));
  return [
    tenantRoute("/:tenant/v2.0/.well-known/openid-configuration", configurationOf),
    tenantRoute("/:tenant/.well-known/openid-configuration", configurationOf),
    tenantRoute("/:tenant/discovery/v2.0/keys", publishedKeys),
    openRoute("/common/discovery/instance", async (request) =>
      json(await instanceOf(context, baseOf(context, request))),
    ),
  ];
}

/** Declares a route of the token service: without a login, and with any query parameters, because
 *  client libraries send some of their own. */
function openRoute(path: `/${string}`, answer: Route["answer"]): Route {
  return declareRoute(`GET ${path}`, "open", answer, { acceptsAnyQuery: true });
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

/** The document that client libraries (MSAL) request before they trust an authority: which of its
 *  host names mean the same. */
async function instanceOf({ local }: IdentityContext, base: string) {
  const { tenantId } = await local.load();
  const { host } = new URL(base);
  return {
    tenant_discovery_endpoint: `${base}/${tenantId}/v2.0/.well-known/openid-configuration`,
    "api-version": "1.1",
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  };
}

type Variables = Readonly<Record<string, string>>;

/** The variables that `etagere env` prints: those of a managed identity, or with the parameter
 *  `principal` those of the client-credentials flow for that principal. They contain secrets: only
 *  for the admin token, or on a server without a login. */
function environmentRoute(context: IdentityContext): AnyRoute {
  const answer: Route["answer"] = async ({ query }) => {
    const name = query.get("principal") ?? "";
    if (name !== "") return clientVariables(context, name);
    return json({ variables: { ...(await managedVariables(context)), ...trustOf(context) } });
  };
  const query = { principal: optional(textCheck) };
  return declareRoute("GET /admin/v1/identity/environment", "server", answer, { query });
}

/** The variables with which Node, Python and OpenSSL trust the local certificate authority. */
function trustOf({ authorityFile: file }: IdentityContext): Variables {
  if (file === undefined) return {};
  return { NODE_EXTRA_CA_CERTS: file, REQUESTS_CA_BUNDLE: file, SSL_CERT_FILE: file };
}

async function managedVariables(context: IdentityContext): Promise<Variables> {
  const { identity, local, address } = context;
  const { managedIdentity, principals } = identity();
  const isDeveloper = principals.includes(developerPrincipal);
  const developerSecret = isDeveloper ? (await local.load()).developerSecret : undefined;
  const secret = managedIdentity?.secret ?? developerSecret;
  if (secret === undefined) return {};
  return { IDENTITY_ENDPOINT: `${address()}/identity/token`, IDENTITY_HEADER: secret };
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
  const assertion = assertionOf(principal.secret, tenantId);
  const file = await local.writeAssertion(principal.clientId, assertion);
  const variables = {
    AZURE_AUTHORITY_HOST: authority,
    AZURE_TENANT_ID: tenantId,
    AZURE_CLIENT_ID: principal.clientId,
    AZURE_CLIENT_SECRET: principal.secret,
    ...(file !== undefined && { AZURE_FEDERATED_TOKEN_FILE: file }),
    ...trustOf(context),
  };
  return json({ variables });
}

const formBytesMax = 64 * 1024;

/** Reads a form; undefined if the body is none, too long, or if there is no memory for it. */
async function readForm({
  headers,
  readBytes,
}: AdminRequest): Promise<URLSearchParams | undefined> {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  const bytes = await readBytes(formBytesMax);
  if (typeof bytes === "string" || type !== "application/x-www-form-urlencoded") return undefined;
  return new URLSearchParams(bytes.toString("utf8"));
}
