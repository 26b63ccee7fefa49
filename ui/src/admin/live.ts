import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { MessagesView } from "../../../src/admin/views/messages.ts";
import type { HeldLease, LeasesView } from "../../../src/admin/views/leases.ts";
import type { SmbFile } from "../../../src/admin/views/open-files.ts";
import type { SmbView } from "../../../src/admin/views/smb.ts";

export type { HeldLease, LeasesView } from "../../../src/admin/views/leases.ts";
export type { SmbFile } from "../../../src/admin/views/open-files.ts";
export type { SmbSession, SmbView } from "../../../src/admin/views/smb.ts";
export type { MessageInFlight, MessagesView } from "../../../src/admin/views/messages.ts";

export const getLeases = (signal?: AbortSignal): Promise<Result<LeasesView>> =>
  admin("leases", { query: { limit: 1000 }, signal });

export const breakLease = (
  { kind, account, container, path }: HeldLease,
  periodSeconds?: number,
): Promise<Result<{ readonly secondsLeft: number }>> =>
  admin("leases/break", {
    method: "POST",
    body: { kind, account, container, path, periodSeconds },
  });

export const getSmb = (signal?: AbortSignal): Promise<Result<SmbView>> =>
  admin("smb", { query: { limit: 1000 }, signal });

/** Closes one handle of a file, or all without `open`. */
export const closeOpens = (
  { account, share, fileId }: SmbFile,
  open?: string,
): Promise<Result<{ readonly closed: number }>> =>
  admin("smb/close", { method: "POST", body: { account, share, fileId, open } });

export const closeSession = (id: string): Promise<Result<unknown>> =>
  admin(`smb/sessions/${encodeURIComponent(id)}/close`, { method: "POST" });

export const getMessagesInFlight = (
  of: { readonly account?: string; readonly queue?: string },
  signal?: AbortSignal,
): Promise<Result<MessagesView>> => admin("messages", { query: { ...of, limit: 1000 }, signal });
