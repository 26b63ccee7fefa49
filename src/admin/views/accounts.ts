import type { AccountSettings } from "../../account/settings.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { connectionStringOf, reachable } from "../connection-string.ts";
import { gatewayPath } from "../gateway.ts";
import type { CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { permissionsOf } from "../security/permissions.ts";
import { signAsPrincipal } from "../sas/delegation-sas.ts";
import { parseSasRequest } from "../sas/sas-request.ts";
import { signSas } from "../sas/sign-sas.ts";

export function accountRoutes(context: ViewContext): readonly Route[] {
  const { facts, accountManager } = context;
  const list = async ({ accounts, grant }: CheckedRequest): Promise<AdminResponse> => {
    const settings = accounts.names().flatMap((name) => accounts.get(name) ?? []);
    const rendered = settings.map((account) => ({
      ...renderAccount(account, facts().urls),
      ...(grant.kind === "principal" ? { permissions: permissionsOf(account, grant) } : {}),
    }));
    if (grant.kind !== "server") return json({ accounts: rendered });
    const recorded = await accountManager.list();
    const unserved = recorded.filter(({ source }) => source === "unserved");
    return json({ accounts: rendered, unserved: unserved.map(({ name }) => ({ name })) });
  };
  const key = ({ accounts }: CheckedRequest, name: string): AdminResponse => {
    const account = accounts.get(name);
    if (account === undefined) return noAccount(name);
    const connectionString = connectionStringOf(account, facts().urls);
    return json({ account: name, keys: account.keys, connectionString });
  };
  return [
    { method: "GET", path: "/admin/v1/accounts", access: "principal", query: {}, answer: list },
    {
      method: "GET",
      path: "/admin/v1/accounts/:name/key",
      access: "account",
      query: {},
      answer: (request, { name = "" }) => key(request, name),
    },
    {
      method: "POST",
      path: "/admin/v1/sas",
      access: "principal",
      query: {},
      answer: (request) => createSas(context, request),
    },
  ];
}

function createSas(
  context: ViewContext,
  request: CheckedRequest,
): AdminResponse | Promise<AdminResponse> {
  const sasRequest = parseSasRequest(request.body);
  if ("problem" in sasRequest) return refuse(400, "InvalidInput", sasRequest.problem);
  const account = request.accounts.get(sasRequest.account);
  if (account === undefined) return noAccount(sasRequest.account);
  if (request.grant.kind === "principal") return signAsPrincipal(context, request, sasRequest);
  const { clock, facts } = context;
  return json(signSas(account, sasRequest, { now: clock.wall(), urls: facts().urls }));
}

type Urls = Readonly<Partial<Record<ServiceName, string>>>;

/** The settings of an account, without its keys. */
export function renderAccount(account: AccountSettings, urls: Urls) {
  const { name, keys: _keys, smb: _smb, roles: _roles, settingsRevision, ...settings } = account;
  const source = settingsRevision === undefined ? "configured" : "stored";
  const endpoints: Record<string, string> = {};
  const gateway: Record<string, string> = {};
  for (const [service, url] of Object.entries(urls)) {
    endpoints[service] = `${reachable(url)}/${name}`;
    gateway[service] = gatewayPath(service as ServiceName, name);
  }
  return { name, source, ...settings, endpoints, gateway };
}
