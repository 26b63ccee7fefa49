import type { ServerInfo } from "../api-types.ts";
import { formatIso } from "../../base/dates.ts";
import type { ViewContext } from "../admin-context.ts";
import { json } from "../admin-response.ts";
import type { Route } from "../routes.ts";

/** Version, addresses and features of the server. */
export function serverRoutes(context: ViewContext): readonly Route[] {
  const { clock, facts, reset } = context;
  const startedAt = formatIso(clock.wall());
  const answer = () => {
    const { version, adminUrl, smbUrl, store, content, urls, clients } = facts();
    const services = Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [name, { url, gateway: `/storage/${name}` }]),
    ) as ServerInfo["services"];
    const info: ServerInfo = {
      version,
      now: formatIso(clock.wall()),
      startedAt,
      adminUrl,
      store,
      content,
      resetAllowed: reset !== undefined,
      services,
      smb: smbUrl === "" ? null : { url: smbUrl },
      clients,
    };
    return json(info);
  };
  return [{ method: "GET", path: "/admin/v1/server", access: "principal", query: {}, answer }];
}
