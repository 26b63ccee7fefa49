import type { Result } from "../result.ts";
import { admin } from "./call.ts";

/** A lease that is held; `secondsLeft` is null if it has no end. */
export interface HeldLease {
  readonly kind: "blob" | "container" | "file" | "share";
  readonly service: "blob" | "file";
  readonly account: string;
  readonly container: string;
  readonly path?: string;
  readonly id: string;
  readonly state: "leased" | "breaking";
  readonly durationSeconds: number;
  readonly expiresAt?: string;
  readonly breaksAt?: string;
  readonly secondsLeft: number | null;
}

export interface LeasesView {
  readonly now: string;
  readonly leases: readonly HeldLease[];
  readonly next?: string;
}

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

export interface SmbSession {
  readonly id: string;
  readonly account: string;
  readonly client: string;
  readonly dialect: string;
  readonly signed: boolean;
  readonly encrypted: boolean;
  readonly shares: readonly string[];
  readonly opens: number;
}

/** A handle of an SMB client. */
export interface SmbOpen {
  readonly id: string;
  readonly session?: string;
  readonly client: string;
  readonly access: readonly string[];
  readonly shareMode: readonly string[];
  readonly deleteOnClose: boolean;
  readonly openedAt: string;
  readonly disconnectedAt?: string;
}

export interface SmbLock {
  readonly open: string;
  readonly offset: string;
  readonly length: string;
  readonly exclusive: boolean;
}

/** A caching grant of an SMB client. */
export interface SmbCache {
  readonly kind: string;
  readonly key?: string;
  readonly held: string;
  readonly breakingTo?: string;
}

export interface SmbFile {
  readonly account: string;
  readonly share: string;
  readonly path: string;
  readonly fileId: string;
  readonly isDirectory: boolean;
  readonly deletePending: boolean;
  readonly opens: readonly SmbOpen[];
  readonly locks: readonly SmbLock[];
  readonly caches: readonly SmbCache[];
}

export interface SmbView {
  readonly now: string;
  readonly url: string | null;
  readonly sessions: readonly SmbSession[];
  readonly files: readonly SmbFile[];
  readonly next?: string;
}

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

/** A message that is invisible until `visibleAt`. */
export interface MessageInFlight {
  readonly account: string;
  readonly queue: string;
  readonly id: string;
  readonly state: "in-flight" | "delayed";
  readonly dequeueCount: number;
  readonly insertedAt: string;
  readonly expiresAt: string | null;
  readonly visibleAt: string;
  readonly secondsLeft: number;
  readonly popReceipt: string;
  readonly preview: string;
}

export interface MessagesView {
  readonly now: string;
  readonly truncated: boolean;
  readonly messages: readonly MessageInFlight[];
}

export const getMessagesInFlight = (
  of: { readonly account?: string; readonly queue?: string },
  signal?: AbortSignal,
): Promise<Result<MessagesView>> => admin("messages", { query: { ...of, limit: 1000 }, signal });
