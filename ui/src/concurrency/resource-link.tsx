import type { JSX } from "preact";
import { folderRoute, parentPrefix } from "../blobs/blob-route.ts";
import { formatRoute } from "../route.ts";
import { entityRoute } from "../tables/entity-route.ts";

interface Resource {
  readonly service: string;
  readonly account: string;
  readonly container: string;
  readonly path?: string | undefined;
  readonly partitionKey?: string | undefined;
  readonly rowKey?: string | undefined;
}

/** The address of the page that shows a resource of any service. */
function resourceRoute(resource: Resource): string {
  const { service, account, container, path, partitionKey, rowKey } = resource;
  if (service === "blob") {
    const prefix = parentPrefix(path ?? "");
    const blob = path === undefined || path === "" ? undefined : { name: path };
    return folderRoute({ account, container, prefix }, blob);
  }
  if (service === "file") {
    const folder = parentPrefix(path ?? "").replace(/\/$/, "");
    const segments = folder === "" ? [account, container] : [account, container, folder];
    return formatRoute("shares", segments, { file: path });
  }
  if (partitionKey !== undefined && rowKey !== undefined) {
    return entityRoute(account, container, { partitionKey, rowKey });
  }
  return formatRoute(service === "queue" ? "queues" : "tables", [account, container]);
}

export function ResourceLink({ resource }: { readonly resource: Resource }): JSX.Element {
  const { container, partitionKey, rowKey } = resource;
  const keys = partitionKey === undefined ? "" : `${partitionKey}, ${rowKey ?? ""}`;
  const path = resource.path ?? keys;
  return (
    <a href={resourceRoute(resource)}>
      {container}
      {path === "" ? "" : `/${path}`}
    </a>
  );
}
