import type { ReportFileChange } from "../file/file-change.ts";
import type { FileHandle } from "./files/file-handle.ts";
import { decodeRename } from "./files/information-classes.ts";
import type { Request } from "./request.ts";
import type { SmbResponse } from "./response.ts";
import { Status } from "./status.ts";
import { decodeCreate } from "./wire/create.ts";
import { headerBytes } from "./wire/header.ts";
import { Command } from "./wire/protocol.ts";
import { decodeSetInfo, InfoType } from "./wire/query.ts";

/** Where a CREATE response has its CreateAction, and the action of a file that existed. */
const actionOffset = headerBytes + 4;
const openedAction = 1;
/** FileRenameInformation ([MS-FSCC] 2.4). */
const renameClass = 10;

/** Reports which files clients have changed: a name when it is created, renamed or deleted, and
 *  contents when their handle closes, because clients write them in many small parts. */
export class ChangeReporter {
  readonly #report: ReportFileChange;
  readonly #written = new WeakSet<FileHandle>();

  constructor(report: ReportFileChange) {
    this.#report = report;
  }

  /** Called with the response to each request. */
  record(request: Request, { status, message }: SmbResponse): void {
    if (status !== Status.success) return;
    const { command } = request.header;
    if (command === Command.create) {
      if (message.readUInt32LE(actionOffset) !== openedAction) this.#created(request);
      return;
    }
    const isWrite = command === Command.write || command === Command.ioctl;
    if (!isWrite && command !== Command.setInfo) return;
    const handle = handleOf(request);
    if (handle === undefined) return;
    if (isWrite) this.#written.add(handle);
    else this.#changed(request, handle);
  }

  /** Called when handles have been closed, by CLOSE or otherwise. */
  closed(handles: readonly FileHandle[], isDeleted: boolean): void {
    const changed = isDeleted ? handles : handles.filter((each) => this.#written.has(each));
    for (const handle of changed) this.#send("CLOSE", handle, handle.path);
  }

  #created(request: Request): void {
    const { connection, header, message } = request;
    const session = connection.channels.get(header.sessionId)?.session;
    const tree = session?.trees.get(header.treeId);
    const name = decodeCreate(message)?.name;
    if (session === undefined || tree === undefined || tree.kind === "pipe" || !name) return;
    this.#send("CREATE", { session, tree, connection }, name.split("\\"));
  }

  #changed({ message }: Request, handle: FileHandle): void {
    this.#send("SET_INFO", handle, handle.path);
    const decoded = decodeSetInfo(message);
    if (decoded?.infoType !== InfoType.file || decoded.infoClass !== renameClass) return;
    const renamed = decodeRename(decoded.data);
    if (typeof renamed !== "number") this.#send("SET_INFO", handle, renamed.name.split("\\"));
  }

  #send(
    operation: string,
    { session, tree, connection }: Pick<FileHandle, "session" | "tree" | "connection">,
    path: readonly string[],
  ): void {
    const { account } = session;
    this.#report({ operation, account, share: tree.shareName, path, client: connection.peer });
  }
}

function handleOf({ connection, header, lifetime }: Request): FileHandle | undefined {
  const session = connection.channels.get(header.sessionId)?.session;
  const handle = lifetime.fileId && session?.handles.get(lifetime.fileId.volatile);
  return handle?.kind === "file" ? handle : undefined;
}
