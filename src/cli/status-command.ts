import { messageOf } from "../host/refused.ts";
import type { ServerInfo } from "../admin/route-table.ts";
import type { HealthView } from "../admin/views/health.ts";
import type { HeldLease, LeasesView } from "../admin/views/leases.ts";
import type { SmbFile } from "../admin/views/open-files.ts";
import type { SmbSession, SmbView } from "../admin/views/smb.ts";
import type { MessagesView } from "../admin/views/messages.ts";
import type { SubscriptionView } from "../admin/views/subscriptions.ts";
import {
  addressOptions,
  callAdmin,
  requireServer,
  tokenOption,
  type ServerAddress,
} from "./admin-client.ts";
import { defineCommand, type Options } from "./command.ts";
import { lostEvents } from "./events-command.ts";
import { columnsOf } from "./progress.ts";

/** `etagere status`: prints what clients of a running server hold and wait for, and its load, once
 *  or again and again. Health checks of containers use its option `--ready`. */

/** Width of the tables on a terminal that does not report its own. */
const columnsDefault = 120;
/** Width of output to a pipe or file, where lines are not cut. */
const columnsUnlimited = 10_000;
const watchMilliseconds = 2000;
const clearScreen = "\u001b[2J\u001b[H";

const statusOptions = {
  ...addressOptions,
  ...tokenOption,
  json: { kind: "switch", help: "print one line of JSON" },
  watch: { kind: "switch", help: "repeat every 2 s until Ctrl-C" },
  ready: { kind: "switch", help: "print nothing; test if requests can be served" },
  alive: { kind: "switch", help: "print nothing; test if the server responds" },
} as const satisfies Options;

export const statusCommand = defineCommand({
  name: "status",
  summary: "show leases, open files and messages in flight of a server",
  description: [
    "Shows the leases, SMB opens, messages in flight and load of a running server. Without " +
      "--location and --url: the server that uses .etagere, or else the one at the default " +
      "address.",
  ],
  options: statusOptions,
  exitCodes: [
    "the status was printed, or the test passed",
    "no server responds, or it is not ready",
  ],
  example: "etagere status --watch",
  run: async ({ options }) => {
    const server = await requireServer(options);
    const { ready, alive, json } = options;
    if (ready || alive) {
      const isGood = await succeeds(`${server.url}${ready ? "/readyz" : "/healthz"}`);
      return { text: "", exitCode: isGood ? 0 : 1 };
    }
    try {
      if (options.watch) await watch(server, json);
      return { text: `${await show(server, json)}\n` };
    } catch (error) {
      throw new Error(describeError(error, server.url), { cause: error });
    }
  },
});

/** A server that does not answer `--ready` or `--alive` for this long has failed the test. */
const testMillisecondsMax = 5000;

/** Whether a URL of a health check is answered with 200. Any certificate is accepted, because the
 *  request contains no secret and the response is only a status: this command need not know the
 *  authority of `--https`. */
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

async function show(server: ServerAddress, json: boolean): Promise<string> {
  const report = await fetchStatus(server);
  const { isTTY } = process.stdout;
  const width = isTTY ? columnsOf(process.stdout, columnsDefault) : columnsUnlimited;
  return json ? JSON.stringify(report) : statusTable(report, width);
}

/** Prints the status every 2 s until the process is ended; with `--json` as one line each time. */
async function watch(server: ServerAddress, json: boolean): Promise<never> {
  for (;;) {
    const text = await show(server, json);
    process.stdout.write(json ? `${text}\n` : `${clearScreen}${text}\n`);
    await new Promise((resolve) => setTimeout(resolve, watchMilliseconds));
  }
}

function describeError(error: unknown, url: string): string {
  if (error instanceof SyntaxError) return `${url} is not an admin listener`;
  return messageOf(error);
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
  const { reclaimableBytes } = content;
  const sizes = [
    store.bytes === undefined ? "" : `store ${bytes(store.bytes)}`,
    content.bytes === undefined ? "" : `content ${bytes(content.bytes)}`,
    reclaimableBytes === 0 ? "" : `reclaimable ${bytes(reclaimableBytes)}`,
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
    ...(health.lostSpans ? [`SPANS LOST: ${health.lostSpans}`] : []),
  ].join("\n");
}

function workerLine(workers: StatusReport["health"]["workers"]): readonly string[] {
  if (workers === undefined) return [];
  const { processes, restarts } = workers;
  const each = processes.map(({ pid, requests }) => `${pid} (${requests} requests)`);
  return [`Workers ${processes.length}: ${each.join(", ")}; replaced after a failure ${restarts}`];
}

/** The warning about audit records that a target, as a file, did not get; empty without any. */
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

function leaseRow({ kind, state, secondsLeft, id, account, container, path }: HeldLease): Row {
  const left = secondsLeft === null ? "infinite" : `${secondsLeft.toFixed(0)} s`;
  const below = path === undefined ? "" : `/${path}`;
  return [kind, state, left, id, `${account}/${container}${below}`];
}

const sessionHead = ["SESSION", "CLIENT", "DIALECT", "OPENS", "SHARES"];

function sessionRow({ id, client, dialect, opens, shares }: SmbSession): Row {
  return [id, client, dialect, String(opens), shares.join(" ")];
}

const fileHead = ["HANDLE", "CLIENT", "ACCESS", "SHARE MODE", "LOCKS", "CACHING", "FILE"];

function fileRows(file: SmbFile): readonly Row[] {
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

function messageRow(message: MessagesView["messages"][number]): Row {
  const { state, secondsLeft, dequeueCount, id, account, queue } = message;
  return [state, `${secondsLeft.toFixed(0)} s`, String(dequeueCount), id, `${account}/${queue}`];
}

const subscriptionHead = [
  "BACKLOG",
  "RETRIES",
  "DELIVERED",
  "NOT DELIVERED",
  "LAST FAILURE",
  "SUBSCRIPTION",
];

/** The table of event subscriptions; empty if there are none, as on most servers. */
function subscriptionSection(rows: readonly SubscriptionView[]): readonly string[] {
  if (rows.length === 0) return [];
  return [section("Event subscriptions", subscriptionHead, rows.map(subscriptionRow), false)];
}

function subscriptionRow(row: SubscriptionView): Row {
  const { account, name, backlog, isBacklogCut, retries = 0, delivered = 0, failures } = row;
  const counts = [retries, delivered, lostEvents(row)].map(String);
  const shown = `${backlog}${isBacklogCut ? "+" : ""}`;
  const stopped = row.isPaused ? "paused" : row.absentSince && "not in the configuration";
  const failure = stopped ?? failures[0]?.reason ?? "-";
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

/** What `etagere status` prints: the responses of several routes of the admin API. */
interface StatusReport {
  readonly url: string;
  readonly server: ServerInfo;
  readonly health: HealthView;
  readonly leases: LeasesView;
  readonly smb: SmbView;
  readonly messages: MessagesView;
  /** Undefined if the server has an earlier release, which lacks this route. */
  readonly subscriptions?: { readonly subscriptions: readonly SubscriptionView[] };
}

const timeoutMilliseconds = 10_000;

/** Requests the status of a server. Throws with a message for the user if it rejects a request. */
export async function fetchStatus(server: ServerAddress): Promise<StatusReport> {
  const ask = (name: string): Promise<unknown> =>
    callAdmin(server, { method: "GET", path: `/admin/v1/${name}`, timeoutMilliseconds });
  const names = ["server", "health", "leases", "smb", "messages"];
  const [info, health, leases, smb, messages] = await Promise.all(names.map(ask));
  const subscriptions = await ask("subscriptions").catch(() => undefined);
  const views = { server: info, health, leases, smb, messages, subscriptions };
  return { url: server.url, ...views } as StatusReport;
}
