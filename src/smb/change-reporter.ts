import type { ReportFileChange } from "../file/file-change.ts";
import type { FileHandle } from "./files/file-handle.ts";
import { newPathIn } from "./files/information-classes.ts";
import { sessionOf, usedFile, type Request } from "./request.ts";
import type { SmbResponse } from "./response.ts";
import { Status } from "./status.ts";
import { OpenAction } from "../file/filesystem/open.ts";
import { actionIn, decodeCreate } from "./wire/create.ts";
import { Command } from "./wire/protocol.ts";
import { decodeSetInfo } from "./wire/query.ts";

/** Reports to the request feed of the admin listener which files SMB clients have changed: a name
 *  when it is created, renamed or deleted, and contents when their handle closes, because clients
 *  write them in many small parts. */
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

  /** Called when handles have been closed, by CLOSE or otherwise. */
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
