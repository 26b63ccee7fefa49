import { adminHeader } from "../admin/security/admin-auth.ts";

/** Responses of the admin API, reduced to the fields that `etagere status` shows. */
export interface StatusReport {
  readonly url: string;
  readonly server: { readonly version: string; readonly store: string; readonly content: string };
  readonly health: HealthResponse;
  readonly leases: { readonly leases: readonly LeaseRow[]; readonly next?: string };
  readonly smb: { readonly sessions: readonly SessionRow[]; readonly files: readonly FileRow[] };
  readonly messages: { readonly messages: readonly MessageRow[]; readonly truncated: boolean };
}

interface HealthResponse {
  readonly uptimeSeconds: number;
  readonly requests: {
    readonly total: number;
    readonly perSecond: number;
    readonly refusedPerSecond: number;
    readonly errorsPerSecond: number;
  };
  readonly store: { readonly bytes?: number; readonly batch: { readonly mean?: number } };
  readonly content: { readonly bytes?: number; readonly reclaimableBytes: number };
  readonly process: { readonly residentBytes: number; readonly cpuPercent: number };
  /** Absent if the server is one process. */
  readonly workers?: {
    readonly processes: readonly { readonly pid: number; readonly requests: number }[];
    readonly restarts: number;
  };
}

export interface LeaseRow {
  readonly kind: string;
  readonly account: string;
  readonly container: string;
  readonly path?: string;
  readonly id: string;
  readonly state: string;
  readonly secondsLeft: number | null;
}

export interface SessionRow {
  readonly id: string;
  readonly account: string;
  readonly client: string;
  readonly dialect: string;
  readonly shares: readonly string[];
  readonly opens: number;
}

export interface FileRow {
  readonly account: string;
  readonly share: string;
  readonly path: string;
  readonly deletePending: boolean;
  readonly opens: readonly {
    readonly id: string;
    readonly client: string;
    readonly access: readonly string[];
    readonly shareMode: readonly string[];
  }[];
  readonly locks: readonly { readonly exclusive: boolean }[];
  readonly caches: readonly { readonly held: string }[];
}

export interface MessageRow {
  readonly account: string;
  readonly queue: string;
  readonly id: string;
  readonly state: string;
  readonly dequeueCount: number;
  readonly secondsLeft: number;
}

const responseMillisecondsMax = 10_000;

/** Throws with a message for the user if the server rejects the request. */
export async function fetchStatus(url: string, token: string | undefined): Promise<StatusReport> {
  const base = url.replace(/\/$/, "");
  const authorization = token === undefined ? undefined : { Authorization: `Bearer ${token}` };
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${base}/admin/v1/${path}`, {
      headers: { [adminHeader]: "1", ...authorization },
      signal: AbortSignal.timeout(responseMillisecondsMax),
    });
    const body = (await answer.json()) as { readonly error?: { readonly message: string } };
    if (!answer.ok) throw new Error(`${base}: ${body.error?.message ?? answer.statusText}`);
    return body;
  };
  const paths = ["server", "health", "leases", "smb", "messages"];
  const [server, health, leases, smb, messages] = await Promise.all(paths.map(ask));
  return { url: base, server, health, leases, smb, messages } as StatusReport;
}
