import { createHash } from "node:crypto";
import type { AdminAudit } from "../admin/admin-audit.ts";
import { formatIso } from "../base/dates.ts";
import { endWithin, type Clock, type Log } from "../base/world.ts";
import type { ObservedRequest } from "../http/http-service.ts";
import type { Principal } from "../protocol/principal.ts";
import type { WriteSmbAudit } from "../smb/audit/smb-auditor.ts";
import { AuditDelivery, droppedNotice } from "./audit-delivery.ts";
import { syslogTarget, webhookTarget } from "./audit-targets.ts";
import type { AuditLosses } from "../admin/views/figures.ts";
import type { Options } from "./options.ts";
import { messageOf, StartRefused } from "../host/refused.ts";
import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";

/** The audit log: records who did what, as lines of JSON, in a file and on other machines
 *  (`--auditLog`, `--auditSyslog`, `--auditWebhook`). */
export interface AuditLog {
  readonly request: (observed: ObservedRequest) => void;
  readonly admin: (audited: AdminAudit) => void;
  readonly smb: WriteSmbAudit;
  /** Lines that were dropped since the start, by where they should have gone. */
  lostLines(): AuditLosses;
  /** Called when this worker becomes the main worker: from now on it renames the file when it is
   *  full, as the former main worker did. */
  rotate(): void;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

interface AuditWorld {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined without `--workers`: then the server is one process. */
  readonly worker?: { readonly isMain: boolean } | undefined;
}

const bytesPerMegabyte = 1_000_000;
/** Limit of a path in the log. Longer paths are cut, because clients choose the length. */
const pathUnitsMax = 2048;
/** Hexadecimal digits of the digest by which the log identifies a SAS. */
const signatureDigits = 16;

/** Opens the file of `--auditLog` and the targets beside it; undefined if there is none. */
export async function openAuditLog(
  options: Options,
  world: AuditWorld,
): Promise<AuditLog | undefined> {
  const file = await openFile(options, world);
  const deliveries = deliveriesOf(options, world);
  if (file === undefined && deliveries.length === 0) return undefined;
  const { clock } = world;
  const write = (entry: object): void => {
    const line = JSON.stringify({ time: formatIso(clock.wall()), ...entry });
    file?.append(line);
    for (const delivery of deliveries) delivery.append(line);
  };
  return {
    request: (observed) => write(requestEntry(observed)),
    admin: (audited) => write({ service: "admin", ...audited }),
    smb: ({ details, ...audited }) => write({ service: "smb", ...audited, ...details }),
    lostLines: () => ({
      ...(file === undefined ? {} : { file: file.lostLines }),
      ...Object.fromEntries(deliveries.map(({ name, lostLines }) => [name, lostLines])),
    }),
    rotate: () => file?.rotate(),
    reopen: async () => file?.reopen(),
    async close() {
      await Promise.all([file?.close(), ...deliveries.map((delivery) => delivery.close())]);
    },
  };
}

async function openFile(
  { auditLog: path, auditLogMegabytes, auditLogFiles }: Options,
  { clock, log, worker }: AuditWorld,
): Promise<AuditFile | undefined> {
  if (path === undefined) return undefined;
  const bytesMax = auditLogMegabytes * bytesPerMegabyte;
  const rotates = worker?.isMain !== false;
  const options = { path, bytesMax, oldFilesMax: auditLogFiles, rotates, clock, log };
  return AuditFile.open(options).catch((error: unknown) => {
    throw new StartRefused([`auditLog: cannot be opened (${messageOf(error)})`], error);
  });
}

function deliveriesOf(
  { auditSyslog, auditWebhook }: Options,
  { clock, log }: AuditWorld,
): readonly AuditDelivery[] {
  const targets = [
    ...(auditSyslog === undefined ? [] : [syslogTarget(auditSyslog, clock)]),
    ...(auditWebhook === undefined ? [] : [webhookTarget(auditWebhook)]),
  ];
  return targets.map((target) => new AuditDelivery({ target, clock, log }));
}

function requestEntry({ http, context, reply }: ObservedRequest): object {
  const { request, requestId, operation, principal } = context;
  const [path = "", query = ""] = request.target.split("?", 2);
  return {
    service: http.service.api ?? http.service.name,
    operation: operation?.name,
    method: request.method,
    resource: path.slice(0, pathUnitsMax),
    status: reply.status,
    code: reply.headers["x-ms-error-code"],
    who: callerOf(principal, query),
    client: request.remoteAddress,
    requestId,
  };
}

/** The caller without secrets. A SAS is identified by its stored access policy and by a digest of
 *  its signature, with which the same SAS is found in other lines. */
function callerOf(principal: Principal | undefined, query: string): object {
  switch (principal?.kind) {
    case undefined:
      return { kind: "unauthenticated" };
    case "key":
      return { kind: "key", key: principal.number };
    case "bearer":
      return { kind: "bearer", objectId: principal.objectId, tenantId: principal.tenantId };
    case "account-sas":
      return { kind: "account-sas", signature: signatureDigest(query) };
    case "service-sas": {
      const { identifier } = principal;
      return { kind: "service-sas", identifier, signature: signatureDigest(query) };
    }
    case "delegation-sas": {
      const { objectId, tenantId } = principal;
      return { kind: "delegation-sas", objectId, tenantId, signature: signatureDigest(query) };
    }
    case "anonymous":
      return { kind: "anonymous" };
  }
}

function signatureDigest(query: string): string | undefined {
  const signature = new URLSearchParams(query).get("sig");
  if (signature === null) return undefined;
  return createHash("sha256").update(signature).digest("hex").slice(0, signatureDigits);
}

export interface AuditFileOptions {
  readonly path: string;
  /** A file of this length is renamed, and a new one begun. */
  readonly bytesMax: number;
  /** Files that are kept beside the current one: `FILE.1` is the newest. */
  readonly oldFilesMax: number;
  /** Whether this process renames the file when it is full. If several processes write to it, one
   *  renames it; the others notice the new file and open that. */
  readonly rotates: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Limit of the text that waits for the disk, in UTF-16 code units, so that a slow disk does not
 *  fill the memory. Lines beyond it are dropped. */
const bufferedUnitsMax = 4 * 1024 * 1024;
const closeMillisecondsMax = 5000;

/** Appends lines to a file in the background. A slow or full disk never delays the caller: lines
 *  beyond the buffer are dropped, and the next line that is written says how many. */
export class AuditFile {
  readonly #options: AuditFileOptions;
  #handle: FileHandle | undefined;
  #inode = 0;
  #buffered = "";
  #bufferedLines = 0;
  #droppedLines = 0;
  #lostLines = 0;
  #rotates: boolean;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  private constructor(options: AuditFileOptions) {
    this.#options = options;
    this.#rotates = options.rotates;
  }

  /** Throws if the file cannot be opened. */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const file = new AuditFile(options);
    await file.#open();
    return file;
  }

  /** Lines that were dropped and not reported in the file yet. */
  get droppedLines(): number {
    return this.#droppedLines;
  }

  /** Lines that were dropped since the file was opened. */
  get lostLines(): number {
    return this.#lostLines;
  }

  /** Lets this process rename the file when it is full. */
  rotate(): void {
    this.#rotates = true;
  }

  /** Appends a line. `line` must not have a line break. */
  append(line: string): void {
    if (this.#buffered.length + line.length > bufferedUnitsMax) {
      this.#droppedLines += 1;
      this.#lostLines += 1;
      return;
    }
    this.#buffered += `${line}\n`;
    this.#bufferedLines += 1;
    this.#writing ??= this.#write();
  }

  /** Opens the file at the path again, after another program has renamed it. */
  async reopen(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    // Lines wait for a reopening, too: two tasks must not open and close the file at once.
    const reopened = this.#close().then(() => this.#open());
    this.#writing = reopened.catch(() => undefined).then(() => this.#writeNext());
    await reopened;
  }

  /** Resolves when all appended lines are written. */
  async flushed(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes the buffered lines, for at most 5 s. */
  async close(): Promise<void> {
    await endWithin(this.#options.clock, closeMillisecondsMax, this.flushed());
    await this.#close();
  }

  async #write(): Promise<void> {
    // The lines of one event-loop iteration are written together.
    await new Promise<void>((resolve) => this.#options.clock.nextIteration(resolve));
    const reported = this.#droppedLines;
    const text = this.#takeBuffered();
    const lines = this.#bufferedLines;
    const ownLines = lines - reported;
    this.#bufferedLines = 0;
    try {
      await this.#followRotation();
      await this.#handle?.appendFile(text);
      this.#isFailing = false;
    } catch (error) {
      this.#droppedLines += lines;
      this.#lostLines += ownLines;
      const { path } = this.#options;
      if (!this.#isFailing) {
        this.#options.log.error({ err: error, path }, "audit log not written; lines are dropped");
      }
      this.#isFailing = true;
    }
    this.#writeNext();
  }

  /** Called when a write or a reopening ends: begins the next write if lines wait. */
  #writeNext(): void {
    this.#writing = this.#buffered === "" ? undefined : this.#write();
  }

  #takeBuffered(): string {
    const notice = this.#droppedLines === 0 ? "" : this.#droppedNotice();
    const text = notice + this.#buffered;
    this.#buffered = "";
    if (notice !== "") this.#bufferedLines += this.#droppedLines;
    this.#droppedLines = 0;
    return text;
  }

  #droppedNotice(): string {
    return `${droppedNotice(this.#options.clock, this.#droppedLines)}\n`;
  }

  /** Opens the file again if it was renamed or removed, and renames it if it is full. */
  async #followRotation(): Promise<void> {
    const { path, bytesMax } = this.#options;
    const found = await stat(path).catch(() => undefined);
    if (this.#rotates && found !== undefined && found.size >= bytesMax) await this.#rotate();
    else if (this.#handle !== undefined && found?.ino === this.#inode) return;
    await this.#close();
    await this.#open();
  }

  async #rotate(): Promise<void> {
    const { path, oldFilesMax } = this.#options;
    // Closes the file first, because Windows does not rename open files.
    await this.#close();
    if (oldFilesMax === 0) return rm(path, { force: true });
    for (let number = oldFilesMax - 1; number >= 1; number -= 1) {
      await rename(`${path}.${number}`, `${path}.${number + 1}`).catch(() => {});
    }
    await rename(path, `${path}.1`);
  }

  async #open(): Promise<void> {
    this.#handle = await open(this.#options.path, "a", 0o600);
    this.#inode = (await this.#handle.stat()).ino;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
