import type { FileRow, LeaseRow, MessageRow, SessionRow, StatusReport } from "./status-report.ts";

/** The report as text tables; lines are cut at `columns`. */
export function statusTable(report: StatusReport, columns: number): string {
  const { leases, smb, messages } = report;
  const parts = [
    headline(report),
    section("Leases", leaseHead, leases.leases.map(leaseRow), leases.next !== undefined),
    section("SMB sessions", sessionHead, smb.sessions.map(sessionRow), false),
    section("Open files", fileHead, smb.files.flatMap(fileRows), false),
    section("Messages", messageHead, messages.messages.map(messageRow), messages.truncated),
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
  ].join("\n");
}

function workerLine(workers: StatusReport["health"]["workers"]): readonly string[] {
  if (workers === undefined) return [];
  const { processes, restarts } = workers;
  const each = processes.map(({ pid, requests }) => `${pid} (${requests} requests)`);
  return [`Workers ${processes.length}: ${each.join(", ")}; replaced after a failure ${restarts}`];
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
