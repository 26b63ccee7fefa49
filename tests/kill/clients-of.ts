import type { ChildServer } from "../harness/child-server.ts";
import { rawClient } from "../harness/raw-client.ts";
import { treeAccount } from "../verify/wire.ts";
import type { Clients } from "./kill-workload.ts";

/** A client for each service. */
export function clientsOf({ urls }: ChildServer): Clients {
  return {
    blob: rawClient(urls.blob),
    tree: rawClient(urls.blob, undefined, treeAccount),
    table: rawClient(urls.table),
    queue: rawClient(urls.queue),
    file: rawClient(urls.file),
    fileUrl: urls.file,
    smbUrl: urls.smb,
  };
}
