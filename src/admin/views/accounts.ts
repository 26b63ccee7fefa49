import type { AccountKeys as KeysView, LoginLink, Permissions } from "../api-types.ts";
import type { AccountKeys, AccountSettings } from "../../account/settings.ts";
import type { ServiceName } from "../../protocol/names.ts";
import {
  changeRefused,
  json,
  noAccount,
  nothing,
  refuse,
  type AdminResponse,
} from "../admin-response.ts";
import { connectionStringOf, reachable } from "../connection-string.ts";
import { gatewayPath } from "../gateway.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute, type Route, type PathValues } from "../routes.ts";
import { sessionCookie, type AdminAuth } from "../security/admin-auth.ts";
import { permissionsOf, serverGrant } from "../security/grant.ts";
import { signAsPrincipal, signSas } from "../sas/sign-sas.ts";
import { parseSasRequest } from "../sas/sas-request.ts";
import type { ChangeResult } from "../../account/change-result.ts";
import type { AccountChange } from "../../account/account-changes.ts";
import { oneOf, optional, textCheck, type Check } from "../inputs.ts";

/** Routes that list the accounts of the server, show the keys of one, and sign a SAS (a URL query
 *  that gives limited access without a key) for the explorer. */
export const accountRoutes: readonly Route[] = [
  declareRoute("GET /admin/v1/accounts", "principal", list),
  declareRoute("GET /admin/v1/accounts/:name/key", "account", showKeys),
  declareRoute("POST /admin/v1/sas", "principal", createSas),
];

async function list({ context, accounts, grant }: CheckedRequest): Promise<AdminResponse> {
  const { facts, accountManager } = context;
  const settings = accounts.names().flatMap((name) => accounts.get(name) ?? []);
  const rendered = settings.map((account) => ({
    ...renderAccount(account, facts().urls),
    ...(grant.kind === "principal" ? { permissions: permissionsOf(account, grant) } : {}),
  }));
  if (grant.kind !== "server") return json({ accounts: rendered });
  const recorded = await accountManager.list();
  const unserved = recorded.filter(({ source }) => source === "unserved");
  return json({ accounts: rendered, unserved: unserved.map(({ name }) => ({ name })) });
}

function showKeys({ context, accounts }: CheckedRequest, { name = "" }: PathValues): AdminResponse {
  const account = accounts.get(name);
  if (account === undefined) return noAccount(name);
  const connectionString = connectionStringOf(account, context.facts().urls);
  return json({ account: name, keys: account.keys, connectionString } satisfies KeysView);
}

function createSas(request: CheckedRequest): AdminResponse | Promise<AdminResponse> {
  const sasRequest = parseSasRequest(request.body);
  if ("problem" in sasRequest) return refuse(400, "InvalidInput", sasRequest.problem);
  const account = request.accounts.get(sasRequest.account);
  if (account === undefined) return noAccount(sasRequest.account);
  if (request.grant.kind === "principal") return signAsPrincipal(request, sasRequest);
  const { clock, facts } = request.context;
  return json(signSas(account, sasRequest, { now: clock.wall(), urls: facts().urls }));
}

type Urls = Readonly<Partial<Record<ServiceName, string>>>;

/** The settings of an account, and the URLs of its services. */
export type Account = ReturnType<typeof renderAccount> & {
  /** What the principal of the login may do; undefined if the login administers the account. */
  readonly permissions?: Permissions;
};

/** `gateway`: the paths of the account below the admin listener, by service. */
function renderAccount(account: AccountSettings, urls: Urls) {
  // Left out: keys, and subscriptions, which contain secrets and have routes of their own.
  const { subscriptions: _subscriptions, ...shown } = account;
  const { name, keys: _keys, smb: _smb, roles: _roles, ...rest } = shown;
  const { settingsRevision, identityRevision: _identity, ...settings } = rest;
  const source = settingsRevision === undefined ? ("configured" as const) : ("stored" as const);
  const endpoints: Record<string, string> = {};
  const gateway: Record<string, string> = {};
  for (const [service, url] of Object.entries(urls)) {
    endpoints[service] = `${reachable(url)}/${name}`;
    gateway[service] = gatewayPath(service as ServiceName, name);
  }
  return { name, source, ...settings, endpoints, gateway };
}

const keysCheck: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.length <= 2
    ? value.map((key) => textCheck(key)).find((problem) => problem !== undefined)
    : "must be a list of one or two keys in base64";
const flagCheck = optional((value) =>
  typeof value === "boolean" ? undefined : "must be true or false",
);
const objectCheck = optional((value) =>
  typeof value === "object" && !Array.isArray(value) ? undefined : 'must be { "setting": … }',
);

const newAccountChecks = {
  name: textCheck,
  keys: optional(keysCheck),
  settings: objectCheck,
  adopt: flagCheck,
};

const keyChecks = { key: optional(textCheck) };
const force = optional(oneOf(["true", "false"]));

/** Routes that create, change and delete stored accounts. Only the admin token permits them: a key
 *  gives access to the data of an account, not to its management. */
export function accountChangeRoutes(auth: AdminAuth): readonly Route[] {
  const answer = (request: CheckedRequest): Promise<AdminResponse> => createLoggedIn(auth, request);
  return [
    declareRoute("POST /admin/v1/accounts", "server", answer, { body: newAccountChecks }),
    declareRoute("POST /admin/v1/accounts/:name/keys/:number", "server", rotate, {
      body: keyChecks,
    }),
    declareRoute("POST /admin/v1/accounts/:name/settings", "server", changeSettings),
    declareRoute("DELETE /admin/v1/accounts/:name", "server", remove, { query: { force } }),
  ];
}

/** Creates an account. If its key is the first secret of the server, a login is required from now
 *  on: the response logs in the browser that created the account. Otherwise the explorer would ask
 *  for a login before it has shown the key. A program gets a login link for the same reason: it has
 *  no token with which it could request one. */
async function createLoggedIn(auth: AdminAuth, request: CheckedRequest): Promise<AdminResponse> {
  const wasRequired = auth.isLoginRequired;
  const created = await create(request);
  const isFirstSecret = created.ok && !wasRequired && auth.isLoginRequired;
  if (!isFirstSecret) return answerWithKeys(request, created, { status: 201 });
  const more: LoginLink = { link: auth.links.issue() };
  const value = auth.sessions.begin({ grant: serverGrant, key: undefined });
  const headers = { "Set-Cookie": sessionCookie(value, request.secure) };
  return answerWithKeys(request, created, { status: 201, headers, more });
}

function create(request: CheckedRequest): Promise<ChangeResult<AccountChange>> {
  const { name, keys, settings, adopt } = request.body;
  return request.context.accountManager.create({
    name: name as string,
    keys: (keys ?? undefined) as AccountKeys | undefined,
    settings: settings ?? {},
    adopt: adopt === true,
  });
}

async function rotate(
  request: CheckedRequest,
  { name = "", number: text = "" }: PathValues,
): Promise<AdminResponse> {
  if (text !== "1" && text !== "2") {
    return refuse(400, "InvalidInput", `the number of a key is 1 or 2, not ${text}`);
  }
  const key = (request.body["key"] || undefined) as string | undefined;
  const number = text === "1" ? 1 : 2;
  const rotated = await request.context.accountManager.rotateKey({ name, number, key });
  return answerWithKeys(request, rotated, { status: 200 });
}

/** Answers with the settings of the account as the server applies them now, or without a body if
 *  another request has deleted the account since the change. */
async function changeSettings(
  { context, accounts, body }: CheckedRequest,
  { name = "" }: PathValues,
): Promise<AdminResponse> {
  const changed = await context.accountManager.changeSettings(name, body);
  if (!changed.ok) return changeRefused(changed);
  const account = accounts.get(name);
  return account === undefined ? nothing : json(renderAccount(account, context.facts().urls));
}

async function remove(
  { context, query }: CheckedRequest,
  { name = "" }: PathValues,
): Promise<AdminResponse> {
  const isForced = query.get("force") === "true";
  const deleted = await context.accountManager.delete(name, { force: isForced });
  return deleted.ok ? nothing : changeRefused(deleted);
}

/** The other parts of a response with the keys of an account. */
interface KeysResponse {
  readonly status: number;
  readonly headers?: AdminResponse["headers"];
  readonly more?: LoginLink;
}

function answerWithKeys(
  { context, accounts }: CheckedRequest,
  result: ChangeResult<AccountChange>,
  { status, headers, more }: KeysResponse,
): AdminResponse {
  if (!result.ok) return changeRefused(result);
  const { name, stored } = result.value;
  const account = accounts.get(name);
  if (account === undefined || stored === undefined) return nothing;
  const current = { ...account, keys: stored.keys };
  const connectionString = connectionStringOf(current, context.facts().urls);
  return json({ account: name, keys: stored.keys, connectionString, ...more }, status, headers);
}
