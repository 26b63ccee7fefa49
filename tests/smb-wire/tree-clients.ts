import { RestError, type ShareClient, type ShareFileClient } from "@azure/storage-file-share";
import { Status } from "../../src/smb/status.ts";
import type { TreeInput, TreeOutput } from "./tree-model.ts";
import type { Answered, Handle, WireClient } from "./wire-client.ts";
import {
  Access,
  closeBody,
  createBody,
  handleOf,
  lockBody,
  renameInfo,
  readBody,
  setInfoBody,
  writeBody,
  type OpenOptions,
} from "./wire-messages.ts";

/** Applies one operation to a tree; `busy` if it conflicted with another client and did nothing. */
export type TreeClient = (input: TreeInput) => Promise<TreeOutput | "busy">;

type Said = Extract<TreeOutput["said"], string>;

const disposition = { open: 1, create: 2 } as const;
const option = { directory: 1, deleteOnClose: 0x1000 } as const;
const shareReadWrite = 3;
const exclusive = 2;
const unlock = 4;
const fileBytes = 8;
const infoClass = { rename: 10, disposition: 13 } as const;

const saidBySmb: Readonly<Record<number, Said | "busy">> = {
  [Status.success]: "done",
  [Status.objectNameNotFound]: "missing",
  [Status.objectPathNotFound]: "missing",
  [Status.objectNameCollision]: "exists",
  [Status.directoryNotEmpty]: "full",
  [Status.sharingViolation]: "busy",
  [Status.deletePending]: "busy",
  [Status.fileLockConflict]: "busy",
  [Status.accessDenied]: "busy",
};

const saidByRest: Readonly<Record<string, Said | "busy">> = {
  ResourceNotFound: "missing",
  ParentNotFound: "missing",
  ResourceAlreadyExists: "exists",
  DirectoryNotEmpty: "full",
  InvalidRange: "short",
  SharingViolation: "busy",
  DeletePending: "busy",
  FileLockConflict: "busy",
};

/** Every open blocks renames and deletes, so that the operation applies to its path. */
export function smbTreeClient(client: WireClient): TreeClient {
  const under = async (
    path: string,
    opening: OpenOptions,
    work: (handle: Handle) => Promise<Answered | undefined>,
  ): Promise<Answered> => {
    const name = path.replaceAll("/", "\\");
    const given = { share: 0, disposition: disposition.open, ...opening };
    const opened = await client.ask(5, createBody(name, given));
    if (opened.status !== Status.success) return opened;
    const handle = handleOf(opened);
    const answer = await work(handle);
    const closed = await client.ask(6, closeBody(handle));
    return answer ?? closed;
  };
  const nothing = async () => undefined;
  const lockedWrite = async (handle: Handle, text: string): Promise<Answered> => {
    const range = { at: 0, length: fileBytes };
    await client.ask(10, lockBody(handle, { ...range, flags: exclusive }));
    const written = await client.ask(9, writeBody(handle, text));
    await client.ask(10, lockBody(handle, { ...range, flags: unlock }));
    return written;
  };
  const run = (input: Exclude<TreeInput, { kind: "list" | "reset" }>): Promise<Answered> => {
    const { path } = input;
    switch (input.kind) {
      case "create":
        return under(path, { disposition: disposition.create }, nothing);
      case "mkdir":
        return under(path, { disposition: disposition.create, options: option.directory }, nothing);
      case "write":
        return under(path, { share: shareReadWrite }, (handle) => lockedWrite(handle, input.text));
      case "rename":
        return under(path, { access: Access.delete }, (handle) =>
          client.ask(17, setInfoBody(handle, infoClass.rename, renameInfo(smbPath(input.to)))),
        );
      case "delete":
        return under(path, { access: Access.delete, options: option.deleteOnClose }, nothing);
      case "rmdir":
        return under(path, { access: Access.delete, options: option.directory }, (handle) =>
          client.ask(17, setInfoBody(handle, infoClass.disposition, Buffer.from([1]))),
        );
      case "read":
        return under(path, { access: Access.read, share: shareReadWrite }, (handle) =>
          client.ask(8, readBody(handle, fileBytes)),
        );
    }
  };
  return async (input) => {
    if (input.kind === "list" || input.kind === "reset") throw new Error("not for this client");
    const answer = await run(input);
    if (input.kind === "read") {
      if (answer.status === Status.endOfFile) return { said: "read", text: "" };
      if (answer.status === Status.success) return { said: "read", text: readText(answer) };
    }
    return said(saidBySmb[answer.status], answer.status.toString(16));
  };
}

function smbPath(path: string): string {
  return path.replaceAll("/", "\\");
}

function readText({ message }: Answered): string {
  return message.subarray(80, 80 + message.readUInt32LE(68)).toString();
}

function said(word: Said | "busy" | undefined, what: string): TreeOutput | "busy" {
  if (word === undefined) throw new Error(`unexpected result: ${what}`);
  return word === "busy" ? "busy" : ({ said: word } as TreeOutput);
}

export function restTreeClient(share: ShareClient): TreeClient {
  const fileAt = (path: string) => {
    const [directory = "", name = ""] = path.split("/");
    return share.getDirectoryClient(directory).getFileClient(name);
  };
  const run = async (input: Exclude<TreeInput, { kind: "list" | "create" }>): Promise<unknown> => {
    const { path } = input;
    switch (input.kind) {
      case "mkdir":
        return share.getDirectoryClient(path).create();
      case "rmdir":
        return share.getDirectoryClient(path).delete();
      case "reset":
        return fileAt(path).create(fileBytes);
      case "write":
        return fileAt(path).uploadRange(input.text, 0, fileBytes);
      case "delete":
        return fileAt(path).delete();
      case "rename":
        return fileAt(path).rename(input.to);
      case "read":
        return readAtOnce(fileAt(path));
    }
  };
  return async (input) => {
    if (input.kind === "list" || input.kind === "create") throw new Error("not for this client");
    try {
      const result = await run(input);
      if (input.kind === "read") return { said: "read", text: String(result) };
      return { said: "done" };
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      const code = error.response?.headers.get("x-ms-error-code") ?? error.code ?? "";
      return said(saidByRest[code], `${input.kind}: ${code}`);
    }
  };
}

/** One request. `downloadToBuffer` asks for the length first; the file may change in between. */
async function readAtOnce(file: ShareFileClient): Promise<string> {
  const { readableStreamBody = [] } = await file.download();
  const chunks: Buffer[] = [];
  for await (const chunk of readableStreamBody) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
