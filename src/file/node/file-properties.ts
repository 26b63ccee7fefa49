import { formatHttpDate } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { CopyState, NodeRecord } from "../records.ts";
import type { FileAddress } from "../file-address.ts";
import { httpHeaderNames, renderHttpHeaders } from "../shared/http-headers.ts";
import { leaseHeaderNames, leaseHeaders } from "../../protocol/lease-headers.ts";
import { smbHeaderNames, smbHeaders } from "../shared/smb-properties.ts";

/** Names of the headers that `fileProperties` returns. */
export const filePropertyNames = [
  ...httpHeaderNames,
  ...leaseHeaderNames,
  ...smbHeaderNames,
  "x-ms-type",
  "x-ms-server-encrypted",
  "x-ms-copy-id",
  "x-ms-copy-source",
  "x-ms-copy-status",
  "x-ms-copy-progress",
  "x-ms-copy-completion-time",
] as const;

export interface FilePropertiesContext {
  readonly target: NodeRecord;
  readonly address: FileAddress;
  readonly version: string;
  readonly now: Ticks;
}

/** Headers of Get File and Get File Properties. A file in a share snapshot has no lease headers. */
export function fileProperties({ target, address, version, now }: FilePropertiesContext) {
  return {
    ...renderHttpHeaders(target.headers ?? {}),
    ...(address.snapshot === undefined ? leaseHeaders(target.lease, now) : {}),
    ...smbHeaders(target, version),
    ...copyHeaders(target.copy),
    "x-ms-type": "File",
    "x-ms-server-encrypted": "true",
  };
}

function copyHeaders(copy: CopyState | undefined) {
  if (copy === undefined) return {};
  return {
    "x-ms-copy-id": copy.id,
    "x-ms-copy-source": copy.source,
    "x-ms-copy-status": copy.status,
    "x-ms-copy-progress": copy.progress,
    "x-ms-copy-completion-time":
      copy.completed === undefined ? undefined : formatHttpDate(copy.completed),
  };
}
