import { FileSystemAttributes, type ShareFileClient } from "@azure/storage-file-share";
import { beforeAll, describe, it } from "vitest";
import { freshName } from "../harness/server.ts";
import { restAndSmb } from "./rest-and-smb.ts";
import {
  Disposition,
  linkAs,
  lockBytes,
  Option,
  renameTo,
  Right,
  setAllocation,
  setAttributes,
  setDisposition,
  setEnd,
  setLastWrite,
  setRights,
  withHandle,
  zeroData,
} from "./verdict-steps.ts";
import { expectVerdicts, type Operation, type State } from "./verdicts.ts";
import type { WireClient } from "./wire-client.ts";
import { Access, close, openFile, readBody, setDeletePending, write } from "./wire-messages.ts";

const { share, ready, restFile } = restAndSmb();

/** A file as both protocols name it, and an SMB client other than the one that has it open. */
interface Subject {
  readonly path: string;
  readonly file: ShareFileClient;
  readonly client: WireClient;
}

let actor: WireClient;
let holder: WireClient;
let kept: Omit<Subject, "client">;

beforeAll(async () => {
  [actor, holder] = [await ready(), await ready()];
  const { name } = await restFile();
  const { snapshot = "" } = await share().createSnapshot();
  const [date = "", time = ""] = snapshot.slice(0, 19).split("T");
  const path = `@GMT-${date.replaceAll("-", ".")}-${time.replaceAll(":", ".")}\\${name}`;
  kept = { path, file: share().withSnapshot(snapshot).rootDirectoryClient.getFileClient(name) };
  return () => {
    actor.end();
    holder.end();
  };
});

async function newFile(): Promise<Subject> {
  const { name, file } = await restFile();
  return { path: name, file, client: actor };
}

/** Opened for reading by another client with this share mode. */
function openSharing(mode: number): State<Subject> {
  return async (work) => {
    const subject = await newFile();
    const handle = await openFile(holder, subject.path, { access: Access.read, share: mode });
    await work(subject);
    await close(holder, handle);
  };
}

const states: Readonly<Record<string, State<Subject>>> = {
  free: async (work) => work(await newFile()),
  leased: async (work) => {
    const subject = await newFile();
    await subject.file.getShareLeaseClient().acquireLease();
    await work(subject);
  },
  "leased once, and broken": async (work) => {
    const subject = await newFile();
    const lease = subject.file.getShareLeaseClient();
    await lease.acquireLease();
    await lease.breakLease();
    await work(subject);
  },
  "delete-pending": async (work) => {
    const subject = await newFile();
    const handle = await openFile(holder, subject.path);
    await setDeletePending(holder, handle, true);
    await work(subject);
    await close(holder, handle);
  },
  "delete-pending, its marker closed": async (work) => {
    const subject = await newFile();
    const left = await openFile(holder, subject.path, { access: Access.read });
    const handle = await openFile(holder, subject.path);
    await setDeletePending(holder, handle, true);
    await close(holder, handle);
    await work(subject);
    await close(holder, left);
  },
  "read-only": async (work) => {
    const subject = await newFile();
    await subject.file.setProperties({ fileAttributes: FileSystemAttributes.parse("ReadOnly") });
    await work(subject);
  },
  snapshot: async (work) => work({ ...kept, client: actor }),
  "open, sharing nothing": openSharing(0),
  "open, sharing reading": openSharing(1),
  "open, sharing writing": openSharing(2),
  "open, sharing deleting": openSharing(4),
  "open, sharing reading and writing": openSharing(3),
  "open, sharing reading and deleting": openSharing(5),
  "open, sharing writing and deleting": openSharing(6),
  "open, sharing everything": openSharing(7),
};

const sharingNoWriting = [
  "open, sharing nothing",
  "open, sharing reading",
  "open, sharing deleting",
  "open, sharing reading and deleting",
];
const sharingNoDeleting = [
  "open, sharing nothing",
  "open, sharing reading",
  "open, sharing writing",
  "open, sharing reading and writing",
];
const open = Object.keys(states).filter((name) => name.startsWith("open"));
const pending = ["delete-pending", "delete-pending, its marker closed"];
const protectedStates = ["leased", "snapshot", ...pending];
const changesNoBytes = { refused: protectedStates, refusedByRest: sharingNoWriting };

function replacing(disposition: number): Operation<Subject> {
  return {
    smb: ({ client, path }) => withHandle(client, path, { access: Access.write, disposition }),
    rest: ({ file }) => file.create(4),
    refused: [...protectedStates, "read-only", ...sharingNoWriting],
    // The operation counts as writing and deleting.
    refusedByRest: sharingNoDeleting,
  };
}

function writing(
  smb: Operation<Subject>["smb"],
  rest: Operation<Subject>["rest"],
): Operation<Subject> {
  return { smb, rest, refused: [...protectedStates, "read-only", ...sharingNoWriting] };
}

function removing(smb: Operation<Subject>["smb"]): Operation<Subject> {
  return {
    smb,
    rest: ({ file }) => file.delete(),
    refused: [...protectedStates, "read-only", ...sharingNoDeleting],
    // A file with open handles is never deleted, whatever they share.
    refusedByRest: open,
  };
}

function isShared(name: string): boolean {
  return name.endsWith("everything");
}

const hidden = 0x22;
const lastWrite = 0x01d0_0000_0000_0000n;
const sddl = "O:SYG:SYD:(A;;FA;;;SY)(A;;FA;;;BA)";
const bothRights = { access: Access.read | Access.write };
const putRange: Operation<Subject>["rest"] = ({ file }) => file.uploadRange("text", 0, 4);

const operations: Readonly<Record<string, Operation<Subject>>> = {
  read: {
    smb: ({ client, path }) =>
      withHandle(client, path, { access: Access.read }, (on, handle) =>
        on.ask(8, readBody(handle, 4)),
      ),
    rest: ({ file }) => file.download(0),
    refused: [...pending, ...open.filter((name) => !name.includes("reading") && !isShared(name))],
  },
  supersede: replacing(Disposition.supersede),
  overwrite: replacing(Disposition.overwrite),
  "overwrite or create": replacing(Disposition.overwriteIf),
  write: writing(
    ({ client, path }) =>
      withHandle(client, path, { access: Access.write }, (on, handle) => write(on, handle, "text")),
    putRange,
  ),
  append: writing(
    ({ client, path }) =>
      withHandle(client, path, { access: Right.append }, (on, handle) => write(on, handle, "x")),
    putRange,
  ),
  "lock and write": writing(
    ({ client, path }) =>
      withHandle(client, path, { access: Access.write }, lockBytes, (on, handle) =>
        write(on, handle, "text"),
      ),
    putRange,
  ),
  "set the end": writing(
    ({ client, path }) => withHandle(client, path, { access: Access.write }, setEnd(3)),
    ({ file }) => file.resize(3),
  ),
  "set the allocation": writing(
    ({ client, path }) => withHandle(client, path, { access: Access.write }, setAllocation(3)),
    ({ file }) => file.resize(3),
  ),
  "set to zero": writing(
    ({ client, path }) => withHandle(client, path, { access: Access.write }, zeroData),
    ({ file }) => file.clearRange(0, 4),
  ),
  "set attributes": {
    smb: ({ client, path }) =>
      withHandle(client, path, { access: Right.writeAttributes }, setAttributes(hidden)),
    rest: ({ file }) =>
      file.setProperties({ fileAttributes: FileSystemAttributes.parse("Hidden") }),
    ...changesNoBytes,
  },
  "set times": {
    smb: ({ client, path }) =>
      withHandle(client, path, { access: Right.writeAttributes }, setLastWrite(lastWrite)),
    rest: ({ file }) => file.setProperties({ lastWriteTime: new Date("2020-01-01") }),
    ...changesNoBytes,
  },
  "set rights": {
    smb: ({ client, path }) =>
      withHandle(client, path, { access: Right.writeDac }, setRights(sddl)),
    rest: ({ file }) => file.setProperties({ filePermission: sddl }),
    ...changesNoBytes,
  },
  rename: {
    smb: ({ client, path }) =>
      withHandle(client, path, { access: Access.delete }, renameTo(freshName("renamed"))),
    rest: ({ file }) => file.rename(freshName("renamed")),
    refused: [...protectedStates, ...sharingNoDeleting],
  },
  "rename another onto it": {
    smb: async ({ client, path }) => {
      const other = await restFile();
      return withHandle(client, other.name, { access: Access.delete }, renameTo(path, true));
    },
    rest: async ({ path }) => {
      const other = await restFile();
      await other.file.rename(path, { replaceIfExists: true });
    },
    // Other handles keep the replaced file.
    refused: ["leased", ...pending, "read-only", ...sharingNoDeleting],
    without: ["snapshot"],
  },
  "rename another to its name": {
    smb: async ({ client, path }) => {
      const other = await restFile();
      return withHandle(client, other.name, { access: Access.delete }, renameTo(path));
    },
    rest: async ({ path }) => (await restFile()).file.rename(path),
    refused: Object.keys(states),
    without: ["snapshot"],
  },
  delete: removing(({ client, path }) =>
    withHandle(client, path, { access: Access.delete }, setDisposition),
  ),
  "delete on close": removing(({ client, path }) =>
    withHandle(client, path, { access: Access.delete, options: Option.deleteOnClose }),
  ),
  // Links exist on NFS shares only.
  link: {
    smb: ({ client, path }) => withHandle(client, path, bothRights, linkAs(freshName("link"))),
    rest: ({ path }) =>
      share().rootDirectoryClient.getFileClient(freshName("link")).createHardLink(path),
    refused: Object.keys(states),
  },
};

describe("SMB and REST decide alike on changes to a file that is", () => {
  it.each(Object.entries(states))("%s", async (name, state) => {
    await expectVerdicts(operations, name, state);
  });
});
