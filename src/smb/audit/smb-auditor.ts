import type { Connection } from "../connection.ts";
import { type FileHandle, has, resolveAccess } from "../files/file-handle.ts";
import { newPathIn } from "../files/information-classes.ts";
import { decodeClientToken } from "../spnego/tokens.ts";
import { decodeAuthenticate, MessageType, typeOfMessage } from "../ntlm/login.ts";
import { sessionOf, usedFile, type Request, type SmbResponse } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import type { Session, TreeConnect } from "../session.ts";
import { nameOfStatus, Status, type NtStatus } from "../status.ts";
import { actionIn, decodeCreate } from "../wire/create.ts";
import { headerBytes } from "../wire/header.ts";
import { Command, commandNameOf, inCapitals } from "../wire/protocol.ts";
import { decodeSetInfo, InfoType, decodeIoctl } from "../wire/io.ts";
import { decodeSessionSetup, decodeTreeConnect } from "../wire/session.ts";
import type { ReportFileChange } from "../../file/file-change.ts";
import { OpenAction } from "../../file/filesystem/open.ts";

/** Two observers of all requests and their responses: `SmbAuditor` writes the audit log,
 *  `ChangeReporter` reports changed files to the request feed. */

/** One line of the audit log, about a request and its response; `server/audit-log.ts` writes it. */
interface SmbAudit {
  readonly operation: string;
  /** `/account/share/path`, or the part of it that is known. */
  readonly resource: string;
  /** Name of the NTSTATUS, for example `STATUS_ACCESS_DENIED`. */
  readonly status: string;
  /** The kind of login, the user (a storage account) and the session. */
  readonly who: object;
  /** Remote address and port. */
  readonly client: string;
  /** Further fields, which depend on the operation: for example, what a SET_INFO changes. */
  readonly details?: object | undefined;
}

export type WriteSmbAudit = (entry: SmbAudit) => void;

/** Most UTF-16 code units of a resource in the log. Longer ones are cut, because clients choose the
 *  path. */
const resourceUnitsMax = 2048;

/** `/account/share/path`, without the parts that are not known. */
function resourceOf(account: string, share?: string, path: readonly string[] = []): string {
  const parts = [account, share ?? "", ...path].filter((part) => part !== "");
  return `/${parts.join("/")}`.slice(0, resourceUnitsMax);
}

function statusName(status: NtStatus): string {
  return `STATUS_${inCapitals(nameOfStatus(status))}`;
}

const accessNames: readonly (readonly [number, string])[] = [
  [Right.readData, "read"],
  [Right.writeData | Right.appendData, "write"],
  [Right.execute, "execute"],
  [Right.delete, "delete"],
  [Right.writeAttributes, "attributes"],
  [Right.writeDac | Right.writeOwner, "security"],
];

/** The rights in an access mask as words for the log, except the right to read attributes. */
function accessWords(access: number): readonly string[] {
  return accessNames.flatMap(([rights, name]) => (has(access, rights) ? [name] : []));
}

/** The names of the information classes that SET_INFO changes ([MS-FSCC] 2.4). */
const setInfoNames: Readonly<Record<number, string>> = {
  4: "attributes",
  10: "rename",
  13: "delete",
  14: "position",
  16: "mode",
  19: "allocation",
  20: "length",
};

/** Offset of the number of bytes in a READ or WRITE response ([MS-SMB2] 2.2.20, 2.2.22). */
const bytesOffset = headerBytes + 4;
/** FSCTL_SRV_COPYCHUNK and FSCTL_SRV_COPYCHUNK_WRITE. */
const copyCodes: ReadonlySet<number> = new Set([0x0014_40f2, 0x0014_80f2]);
/** The number of copied bytes is the last field of a copy response ([MS-SMB2] 2.2.32.1). */
const copiedFromEnd = 4;

/** Commands that are counted by handle: their lines would be too many. */
const countedCommands: ReadonlySet<number> = new Set([
  Command.read,
  Command.write,
  Command.lock,
  Command.ioctl,
]);

/** What was read, written and locked through one handle, for the line of its CLOSE. */
class HandleCounts {
  #readBytes = 0;
  #writtenBytes = 0;
  #locks = 0;
  /** Numbers of rejected requests, by command and status. */
  readonly #rejected = new Map<string, number>();

  add({ header: { command }, message }: Request, response: SmbResponse): void {
    if (!countedCommands.has(command)) return;
    const { status } = response;
    if (status !== Status.success) {
      // Not a rejection: clients read a file until they get this status.
      if (status === Status.endOfFile) return;
      const key = `${commandNameOf(command)} ${statusName(status)}`;
      this.#rejected.set(key, (this.#rejected.get(key) ?? 0) + 1);
      return;
    }
    if (command === Command.read) this.#readBytes += response.message.readUInt32LE(bytesOffset);
    if (command === Command.write) this.#writtenBytes += response.message.readUInt32LE(bytesOffset);
    if (command === Command.lock) this.#locks += 1;
    if (command === Command.ioctl) this.#writtenBytes += copiedBytes(message, response);
  }

  details(): object {
    return {
      readBytes: this.#readBytes,
      writtenBytes: this.#writtenBytes,
      ...(this.#locks > 0 && { locks: this.#locks }),
      ...(this.#rejected.size > 0 && { rejected: Object.fromEntries(this.#rejected) }),
    };
  }
}

function copiedBytes(message: Buffer, { message: response }: SmbResponse): number {
  const code = decodeIoctl(message)?.code;
  if (code === undefined || !copyCodes.has(code)) return 0;
  return response.readUInt32LE(response.length - copiedFromEnd);
}

/** The session and the tree connect that a request names. They are looked up before its handler
 *  runs, because LOGOFF removes them. */
interface RequestTarget {
  readonly session: Session | undefined;
  readonly tree: TreeConnect | undefined;
}

/** Writes the audit log of SMB: one line for each SESSION_SETUP, LOGOFF, TREE_CONNECT, CREATE and
 *  SET_INFO, and one when a handle closes, with what was read, written and locked through it. READ
 *  and WRITE are only counted, so that the volume depends on the files that clients open. */
export class SmbAuditor {
  readonly #write: WriteSmbAudit;
  readonly #counts = new WeakMap<FileHandle, HandleCounts>();

  constructor(write: WriteSmbAudit) {
    this.#write = write;
  }

  /** Called before a request is handled. Returns the function to call with its response. */
  begin(request: Request): (response: SmbResponse) => void {
    const session = sessionOf(request);
    const target = { session, tree: session?.trees.get(request.header.treeId) };
    return (response) => this.#record(request, target, response);
  }

  /** Writes the lines of handles that CLOSE or the server has closed (`HandleCloser`). */
  closed(handles: readonly FileHandle[], isDeleted: boolean): void {
    for (const handle of handles) {
      const { session, connection, tree, path } = handle;
      const counts = this.#counts.get(handle) ?? new HandleCounts();
      this.#write({
        operation: "CLOSE",
        resource: resourceOf(session.account, tree.share.name, path),
        status: statusName(Status.success),
        ...callerOf(session, connection),
        details: { ...counts.details(), ...(isDeleted && { isDeleted }) },
      });
    }
  }

  #record(request: Request, target: RequestTarget, response: SmbResponse): void {
    switch (request.header.command) {
      case Command.sessionSetup:
        return this.#recordSetup(request, response);
      case Command.logoff:
        return this.#writeLine(request, target, response, { operation: "LOGOFF" });
      case Command.treeConnect:
        return this.#writeLine(request, target, response, treeConnectOf(request));
      case Command.create:
        if (target.tree?.kind === "pipe") return;
        return this.#writeLine(request, target, response, createOf(request, response));
      case Command.setInfo:
        return this.#recordSetInfo(request, target, response);
      default: {
        const handle = usedFile(request, target.session);
        if (handle !== undefined) this.#countsOf(handle).add(request, response);
      }
    }
  }

  /** Writes a line for the last message of a login only. Those before it get
   *  STATUS_MORE_PROCESSING_REQUIRED. */
  #recordSetup({ connection, message, header }: Request, response: SmbResponse): void {
    const { status, sessionId } = response;
    if (status === Status.moreProcessingRequired) return;
    const session = connection.server.sessions.get(sessionId ?? header.sessionId);
    const isDone = status === Status.success && session !== undefined;
    const user = isDone ? session.account : attemptedUser(message);
    this.#write({
      operation: "SESSION_SETUP",
      resource: resourceOf(isDone ? session.account : ""),
      status: statusName(status),
      who: isDone ? whoIs(session) : { kind: "unauthenticated", user },
      client: connection.peer,
    });
  }

  #recordSetInfo(request: Request, target: RequestTarget, response: SmbResponse): void {
    const decoded = decodeSetInfo(request.message);
    const isSecurity = decoded?.infoType === InfoType.security;
    const change = isSecurity ? "security" : setInfoNames[decoded?.infoClass ?? 0];
    // Position and mode are set in the handle only; the file does not change.
    if (change === "position" || change === "mode") return;
    const newPath = decoded && newPathIn(decoded);
    const to = newPath && resourceOf("", undefined, newPath);
    this.#writeLine(request, target, response, {
      operation: "SET_INFO",
      path: usedFile(request, target.session)?.path ?? [],
      details: { change, ...(to !== undefined && { to }) },
    });
  }

  #writeLine(
    { connection }: Request,
    { session, tree }: RequestTarget,
    { status }: SmbResponse,
    { operation, share, path, details }: LineParts,
  ): void {
    this.#write({
      operation,
      resource: resourceOf(session?.account ?? "", share ?? tree?.share.name, path),
      status: statusName(status),
      ...callerOf(session, connection),
      details,
    });
  }

  #countsOf(handle: FileHandle): HandleCounts {
    const found = this.#counts.get(handle);
    if (found !== undefined) return found;
    const counts = new HandleCounts();
    this.#counts.set(handle, counts);
    return counts;
  }
}

interface LineParts {
  readonly operation: string;
  readonly share?: string | undefined;
  readonly path?: readonly string[];
  readonly details?: object;
}

function callerOf(
  session: Session | undefined,
  { peer }: Connection,
): Pick<SmbAudit, "who" | "client"> {
  const who = session === undefined ? { kind: "unauthenticated" } : whoIs(session);
  return { who, client: peer };
}

function whoIs({ account, isAnonymous, id }: Session): object {
  const kind = isAnonymous ? "anonymous" : "smb";
  return { kind, user: account, session: id.toString(16) };
}

/** The user name in the last message of a failed login; undefined if the message has none. */
function attemptedUser(message: Buffer): string | undefined {
  const token = decodeSessionSetup(message)?.token;
  if (token === undefined) return undefined;
  const isRaw = typeOfMessage(token) !== undefined;
  const ntlm = isRaw ? token : decodeClientToken(token)?.token;
  if (ntlm === undefined || typeOfMessage(ntlm) !== MessageType.authenticate) return undefined;
  return decodeAuthenticate(ntlm)?.user.slice(0, userUnitsMax);
}

/** Most UTF-16 code units of a user name in the log, because clients choose it. */
const userUnitsMax = 128;

function treeConnectOf({ message }: Request): LineParts {
  const share = decodeTreeConnect(message)?.path.split("\\").at(-1);
  return { operation: "TREE_CONNECT", share };
}

/** Names in the order of the numbers of CreateAction. */
const actions = ["superseded", "opened", "created", "overwritten"] as const;

function createOf({ message }: Request, response: SmbResponse): LineParts {
  const decoded = decodeCreate(message);
  if (decoded === undefined) return { operation: "CREATE" };
  const rights = resolveAccess(decoded.access);
  const access = typeof rights === "number" ? [] : accessWords(rights.access);
  const isOpened = response.status === Status.success;
  const action = isOpened ? actions[actionIn(response.message)] : undefined;
  const path = decoded.name.split("\\");
  return { operation: "CREATE", path, details: { access, ...(action && { action }) } };
}

/** Reports to the request feed of the admin listener which files SMB clients have changed: a name
 *  when it is created, renamed or deleted, and contents when their handle closes, because clients
 *  write them in many small parts. */
export class ChangeReporter {
  readonly #report: ReportFileChange;
  readonly #written = new WeakSet<FileHandle>();

  constructor(report: ReportFileChange) {
    this.#report = report;
  }

  /** Reports or remembers what a request has changed; called with each response. */
  record(request: Request, { status, message }: SmbResponse): void {
    if (status !== Status.success) return;
    const { command } = request.header;
    if (command === Command.create) {
      if (actionIn(message) !== OpenAction.opened) this.#created(request);
      return;
    }
    const isWrite = command === Command.write || command === Command.ioctl;
    if (!isWrite && command !== Command.setInfo) return;
    const handle = usedFile(request, sessionOf(request));
    if (handle === undefined) return;
    if (isWrite) this.#written.add(handle);
    else this.#changed(request, handle);
  }

  /** Reports handles that CLOSE or the server has closed, if their file was changed or deleted. */
  closed(handles: readonly FileHandle[], isDeleted: boolean): void {
    const changed = isDeleted ? handles : handles.filter((each) => this.#written.has(each));
    for (const handle of changed) this.#send("CLOSE", handle, handle.path);
  }

  #created(request: Request): void {
    const { connection, header, message } = request;
    const session = sessionOf(request);
    const tree = session?.trees.get(header.treeId);
    const name = decodeCreate(message)?.name;
    if (session === undefined || tree === undefined || tree.kind === "pipe" || !name) return;
    this.#send("CREATE", { session, tree, connection }, name.split("\\"));
  }

  #changed({ message }: Request, handle: FileHandle): void {
    this.#send("SET_INFO", handle, handle.path);
    const decoded = decodeSetInfo(message);
    const newPath = decoded && newPathIn(decoded);
    if (newPath !== undefined) this.#send("SET_INFO", handle, newPath);
  }

  #send(
    operation: string,
    { session, tree, connection }: Pick<FileHandle, "session" | "tree" | "connection">,
    path: readonly string[],
  ): void {
    const { account } = session;
    this.#report({ operation, account, share: tree.share.name, path, client: connection.peer });
  }
}
