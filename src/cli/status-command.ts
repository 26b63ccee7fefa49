import { messageOf } from "../host/start-refused.ts";
import { addressOptions, findServer, tokenOption } from "./admin-client.ts";
import type { AddressValues } from "./admin-client.ts";
import { defineCommand } from "./command.ts";
import { columnsOf } from "./figures.ts";
import { adminHeader } from "../admin/security/admin-auth.ts";

const columnsDefault = 120;
/** Width of pipes and files, which have none. */
const columnsUnlimited = 10_000;
const watchMilliseconds = 2000;
const clearScreen = "\u001b[2J\u001b[H";

export const statusCommand = defineCommand({
  name: "status",
  summary: "show leases, open files and messages in flight of a server",
  description: [
    "Shows the leases, SMB opens, messages in flight and load of a running server. Without " +
      "--location and --url: the server that uses .etagere, or else the one at the default " +
      "address.",
  ],
  arguments: [],
  actions: {},
  options: {
    ...addressOptions,
    ...tokenOption,
    json: { kind: "switch", help: "print one line of JSON" },
    watch: { kind: "switch", help: "repeat every 2 s until Ctrl-C" },
    ready: { kind: "switch", help: "print nothing; test if requests can be served" },
    alive: { kind: "switch", help: "print nothing; test if the server responds" },
  },
  exitCodes: [
    "the status was printed, or the test passed",
    "no server responds, or it is not ready",
  ],
  example: "etagere status --watch",
  run: ({ options }) => status(options),
});

interface StatusOptions extends AddressValues {
  readonly json: boolean;
  readonly watch: boolean;
  readonly ready: boolean;
  readonly alive: boolean;
}

async function status(options: StatusOptions): Promise<number> {
  let url = "";
  try {
    const server = await findServer(options);
    if (server === undefined) {
      throw new Error(`no server uses ${options.location}, or this user may not read that folder`);
    }
    url = server.url;
    if (options.ready) return (await succeeds(`${url}/readyz`)) ? 0 : 1;
    if (options.alive) return (await succeeds(`${url}/healthz`)) ? 0 : 1;
    if (options.watch) await watch(url, server.token, options);
    else process.stdout.write(`${await show(url, server.token, options)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`etagere: ${describeError(error, url)}\n`);
    return 1;
  }
}

const testMillisecondsMax = 5000;

/** Whether the response is 200. The request contains no secret and the response is only a status,
 *  so that any certificate is accepted: only clients that were given its authority trust that of
 *  `--https`. */
async function succeeds(url: string): Promise<boolean> {
  const { get } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const options = { rejectUnauthorized: false, timeout: testMillisecondsMax, agent: false };
  return new Promise((resolve) => {
    const request = get(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}

async function show(
  url: string,
  token: string | undefined,
  { json }: StatusOptions,
): Promise<string> {
  const report = await fetchStatus(url, token);
  const { isTTY } = process.stdout;
  const width = isTTY ? columnsOf(process.stdout, columnsDefault) : columnsUnlimited;
  return json ? JSON.stringify(report) : statusTable(report, width);
}

/** Prints the status every 2 s until the process is ended; with `--json` as one line each time. */
async function watch(
  url: string,
  token: string | undefined,
  options: StatusOptions,
): Promise<never> {
  for (;;) {
    const text = await show(url, token, options);
    process.stdout.write(options.json ? `${text}\n` : `${clearScreen}${text}\n`);
    await new Promise((resolve) => setTimeout(resolve, watchMilliseconds));
  }
}

function describeError(error: unknown, url: string): string {
  if (error instanceof SyntaxError) return `${url} is not an admin listener`;
  const isUnreachable = error instanceof TypeError && error.message === "fetch failed";
  return isUnreachable
    ? `no server responds at ${url}; choose one with --location or --url`
    : `${messageOf(error)}${adviceFor(error)}`;
}

/** The token is in the data folder, or given at the start of the server. */
function adviceFor(error: unknown): string {
  return messageOf(error).endsWith("log in first")
    ? "; name the data folder with --location, or the admin token with --token"
    : "";
}

/** The report as text tables; lines are cut at `columns`. */
export function statusTable(report: StatusReport, columns: number): string {
  const { leases, smb, messages } = report;
  const parts = [
    headline(report),
    section("Leases", leaseHead, leases.leases.map(leaseRow), leases.next !== undefined),
    section("SMB sessions", sessionHead, smb.sessions.map(sessionRow), false),
    section("Open files", fileHead, smb.files.flatMap(fileRows), false),
    section("Messages", messageHead, messages.messages.map(messageRow), messages.truncated),
    ...subscriptionSection(report.subscriptions?.subscriptions ?? []),
  ];
  return parts
    .join("\n\n")
    .split("\n")
    .map((line) => cut(line, columns))
    .join("\n");
}

function headline({ url, server, health }: StatusReport): string {
  const { requests, store, content, process } = health;
  const sizes = [
    store.bytes === undefined ? "" : `store ${bytes(store.bytes)}`,
    content.bytes === undefined ? "" : `content ${bytes(content.bytes)}`,
    content.reclaimableBytes === 0 ? "" : `reclaimable ${bytes(content.reclaimableBytes)}`,
    `memory ${bytes(process.residentBytes)}`,
    `CPU ${process.cpuPercent} %`,
  ].filter((each) => each !== "");
  const rates =
    `${requests.perSecond}/s, refused ${requests.refusedPerSecond}/s, ` +
    `errors ${requests.errorsPerSecond}/s`;
  const up = duration(health.uptimeSeconds);
  return [
    `Etagere ${server.version} at ${url}, up ${up}, ${server.store} + ${server.content}`,
    `Requests ${requests.total} (${rates})`,
    sizes.join(", "),
    ...workerLine(health.workers),
    ...auditLine(health.auditLostLines),
  ].join("\n");
}

function workerLine(workers: StatusReport["health"]["workers"]): readonly string[] {
  if (workers === undefined) return [];
  const { processes, restarts } = workers;
  const each = processes.map(({ pid, requests }) => `${pid} (${requests} requests)`);
  return [`Workers ${processes.length}: ${each.join(", ")}; replaced after a failure ${restarts}`];
}

/** Shown only if something was lost. */
function auditLine(lost: StatusReport["health"]["auditLostLines"] = {}): readonly string[] {
  const targets = Object.entries(lost).filter(([, lines]) => lines > 0);
  if (targets.length === 0) return [];
  return [`AUDIT LINES LOST: ${targets.map(([name, lines]) => `${lines} for ${name}`).join(", ")}`];
}

type Row = readonly string[];

function section(title: string, head: Row, rows: readonly Row[], isCut: boolean): string {
  if (rows.length === 0) return `${title}: none`;
  const all = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const more = isCut ? ["… and more"] : [];
  return [`${title}: ${rows.length}${isCut ? "+" : ""}`, ...lines, ...more].join("\n");
}

const leaseHead = ["KIND", "STATE", "LEFT", "LEASE ID", "RESOURCE"];

function leaseRow({ kind, state, secondsLeft, id, account, container, path }: LeaseRow): Row {
  const left = secondsLeft === null ? "infinite" : `${secondsLeft.toFixed(0)} s`;
  const below = path === undefined ? "" : `/${path}`;
  return [kind, state, left, id, `${account}/${container}${below}`];
}

const sessionHead = ["SESSION", "CLIENT", "DIALECT", "OPENS", "SHARES"];

function sessionRow({ id, client, dialect, opens, shares }: SessionRow): Row {
  return [id, client, dialect, String(opens), shares.join(" ")];
}

const fileHead = ["HANDLE", "CLIENT", "ACCESS", "SHARE MODE", "LOCKS", "CACHING", "FILE"];

function fileRows(file: FileRow): readonly Row[] {
  const { account, share, path, deletePending, opens, locks, caches } = file;
  const what = `${account}/${share}/${path}${deletePending ? " (delete pending)" : ""}`;
  const held = caches.map((cache) => cache.held).join(" ");
  return opens.map(({ id, client, access, shareMode }) => [
    id,
    client,
    letters(access),
    letters(shareMode),
    String(locks.length),
    held,
    what,
  ]);
}

function letters(rights: readonly string[]): string {
  const initials = rights.map((right) => right.slice(0, 1)).join("");
  return initials === "" ? "-" : initials;
}

const messageHead = ["STATE", "VISIBLE IN", "DEQUEUED", "ID", "QUEUE"];

function messageRow({ state, secondsLeft, dequeueCount, id, account, queue }: MessageRow): Row {
  return [state, `${secondsLeft.toFixed(0)} s`, String(dequeueCount), id, `${account}/${queue}`];
}

const subscriptionHead = [
  "BACKLOG",
  "RETRIES",
  "DELIVERED",
  "LOST",
  "LAST FAILURE",
  "SUBSCRIPTION",
];

/** Without subscriptions there is no section: most servers have none. */
function subscriptionSection(rows: readonly SubscriptionRow[]): readonly string[] {
  if (rows.length === 0) return [];
  return [section("Event subscriptions", subscriptionHead, rows.map(subscriptionRow), false)];
}

function subscriptionRow(row: SubscriptionRow): Row {
  const { account, name, backlog, isBacklogCut, retries, delivered, failures } = row;
  const lost = row.deadLettered + row.dropped + row.missed;
  const counts = [retries, delivered, lost].map(String);
  const shown = `${backlog}${isBacklogCut ? "+" : ""}`;
  const failure = row.isPaused ? "paused" : (failures[0]?.reason ?? "-");
  return [shown, ...counts, failure, `${account}/${name}`];
}

/** Replaces control characters, which names may contain and a terminal would execute. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}

function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0))}…`;
}

const units = ["B", "kB", "MB", "GB", "TB"];

function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3600).toFixed(0)} h`;
}

/** Responses of the admin API, reduced to the fields that `etagere status` shows. */
interface StatusReport {
  readonly url: string;
  readonly server: { readonly version: string; readonly store: string; readonly content: string };
  readonly health: HealthResponse;
  readonly leases: { readonly leases: readonly LeaseRow[]; readonly next?: string };
  readonly smb: { readonly sessions: readonly SessionRow[]; readonly files: readonly FileRow[] };
  readonly messages: { readonly messages: readonly MessageRow[]; readonly truncated: boolean };
  /** Undefined if the server is of an earlier release. */
  readonly subscriptions?: { readonly subscriptions: readonly SubscriptionRow[] };
}

interface SubscriptionRow {
  readonly account: string;
  readonly name: string;
  readonly isPaused: boolean;
  readonly backlog: number;
  readonly isBacklogCut: boolean;
  readonly retries: number;
  readonly delivered: number;
  readonly deadLettered: number;
  readonly dropped: number;
  readonly missed: number;
  readonly failures: readonly { readonly reason: string }[];
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
  readonly auditLostLines?: Readonly<Record<string, number>>;
  readonly workers?: {
    readonly processes: readonly { readonly pid: number; readonly requests: number }[];
    readonly restarts: number;
  };
}

interface LeaseRow {
  readonly kind: string;
  readonly account: string;
  readonly container: string;
  readonly path?: string;
  readonly id: string;
  readonly state: string;
  readonly secondsLeft: number | null;
}

interface SessionRow {
  readonly id: string;
  readonly account: string;
  readonly client: string;
  readonly dialect: string;
  readonly shares: readonly string[];
  readonly opens: number;
}

interface FileRow {
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

interface MessageRow {
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
  const subscriptions = await ask("subscriptions").catch(() => undefined);
  return { url: base, server, health, leases, smb, messages, subscriptions } as StatusReport;
}
