import type { JSX } from "preact";
import { folderRoute, parentPrefix } from "../blobs/blob-route.ts";
import { formatRoute } from "../route.ts";

interface Resource {
  readonly service: string;
  readonly account: string;
  readonly container: string;
  readonly path?: string | undefined;
}

/** The address of the page that shows a resource of any service. */
function resourceRoute({ service, account, container, path }: Resource): string {
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
  return formatRoute(service === "queue" ? "queues" : "tables", [account, container]);
}

export function ResourceLink({ resource }: { readonly resource: Resource }): JSX.Element {
  const { container, path } = resource;
  return (
    <a href={resourceRoute(resource)}>
      {container}
      {path === undefined || path === "" ? "" : `/${path}`}
    </a>
  );
}
