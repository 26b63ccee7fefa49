import { FileSystemAttributes, type ShareDirectoryClient } from "@azure/storage-file-share";
import { beforeAll, describe, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName } from "../harness/server.ts";
import { restAndSmb } from "./rest-and-smb.ts";
import {
  Disposition,
  Option,
  renameTo,
  Right,
  setAttributes,
  setDisposition,
  setRights,
  withHandle,
} from "./verdict-steps.ts";
import { expectVerdicts, type Operation, type State } from "./verdicts.ts";
import type { WireClient } from "./wire-client.ts";
import { Access, close, openFile, setDeletePending } from "./wire-messages.ts";

const { share, ready, restFile } = restAndSmb();

interface Subject {
  readonly path: string;
  readonly directory: ShareDirectoryClient;
}

let actor: WireClient;
let holder: WireClient;

beforeAll(async () => {
  [actor, holder] = [await ready(), await ready()];
  return () => {
    actor.end();
    holder.end();
  };
});

async function newDirectory(): Promise<Subject> {
  const directory = share().getDirectoryClient(freshName("directory"));
  await directory.create();
  return { path: directory.name, directory };
}

/** Opened by another client. */
function openWith(access: number, mode: number): State<Subject> {
  return async (work) => {
    const subject = await newDirectory();
    const options = { access, share: mode, options: Option.directory };
    const handle = await openFile(holder, subject.path, options);
    await work(subject);
    await close(holder, handle);
  };
}

/** Contains a file that another client has open. */
function openBelow(mode: number, ...between: readonly string[]): State<Subject> {
  return async (work) => {
    const subject = await newDirectory();
    let inner = subject.directory;
    for (const name of between) {
      inner = inner.getDirectoryClient(name);
      await inner.create();
    }
    await inner.getFileClient("file").create(1);
    const path = [subject.path, ...between, "file"].join("\\");
    const handle = await openFile(holder, path, { access: Access.read, share: mode });
    await work(subject);
    await close(holder, handle);
  };
}

const states: Readonly<Record<string, State<Subject>>> = {
  free: async (work) => work(await newDirectory()),
  "not empty": async (work) => {
    const subject = await newDirectory();
    await subject.directory.getFileClient("file").create(1);
    await work(subject);
  },
  "delete-pending": async (work) => {
    const subject = await newDirectory();
    const handle = await openFile(holder, subject.path, { options: Option.directory });
    await setDeletePending(holder, handle, true);
    await work(subject);
    await close(holder, handle);
  },
  "delete-pending, its marker closed": async (work) => {
    const subject = await newDirectory();
    const options = Option.directory;
    const left = await openFile(holder, subject.path, { access: Access.read, options });
    const handle = await openFile(holder, subject.path, { options });
    await setDeletePending(holder, handle, true);
    await close(holder, handle);
    await work(subject);
    await close(holder, left);
  },
  "read-only": async (work) => {
    const subject = await newDirectory();
    const fileAttributes = FileSystemAttributes.parse("ReadOnly");
    await subject.directory.setProperties({ fileAttributes });
    await work(subject);
  },
  "open, sharing everything": openWith(Access.read, 7),
  "open, sharing nothing": openWith(Access.read, 0),
  "open to be deleted": openWith(Access.all, 7),
  "with an open file": openBelow(7),
  "with an open file that shares nothing": openBelow(0),
  "with an open file far below": openBelow(7, "one", "two"),
};

const pending = ["delete-pending", "delete-pending, its marker closed"];
const open = ["open, sharing everything", "open, sharing nothing", "open to be deleted"];
const openInside = Object.keys(states).filter((name) => name.startsWith("with"));
const full = ["not empty", ...openInside];
const notSharingDelete = ["open, sharing nothing", "open to be deleted"];

function creating(
  smb: Operation<Subject>["smb"],
  rest: Operation<Subject>["rest"],
): Operation<Subject> {
  return { smb, rest, refused: pending };
}

/** Moves another entry into the directory. */
function movingIn(
  smb: Operation<Subject>["smb"],
  rest: Operation<Subject>["rest"],
): Operation<Subject> {
  return { smb, rest, refused: [...pending, ...notSharingDelete] };
}

function removing(smb: Operation<Subject>["smb"]): Operation<Subject> {
  return {
    smb,
    rest: ({ directory }) => directory.delete(),
    refused: [...pending, ...full, "read-only", "open, sharing nothing"],
    // A directory with open handles is never deleted, whatever they share.
    refusedByRest: open,
  };
}

function changing(
  smb: Operation<Subject>["smb"],
  rest: Operation<Subject>["rest"],
): Operation<Subject> {
  return { smb, rest, refused: pending, refusedByRest: ["open, sharing nothing"] };
}

const deleting = { access: Access.delete, options: Option.directory };
const sddl = "O:SYG:SYD:(A;;FA;;;SY)(A;;FA;;;BA)";

const operations: Readonly<Record<string, Operation<Subject>>> = {
  "create a file in it": creating(
    ({ path }) => withHandle(actor, `${path}\\new`, { disposition: Disposition.create }),
    ({ directory }) => directory.getFileClient("new").create(1),
  ),
  "create a directory in it": creating(
    ({ path }) => {
      const opening = { disposition: Disposition.create, options: Option.directory };
      return withHandle(actor, `${path}\\new`, opening);
    },
    ({ directory }) => directory.getDirectoryClient("new").create(),
  ),
  "move a file into it": movingIn(
    async ({ path }) => {
      const { name } = await restFile();
      return withHandle(actor, name, { access: Access.delete }, renameTo(`${path}\\new`));
    },
    async ({ path }) => (await restFile()).file.rename(`${path}/new`),
  ),
  "move a directory into it": movingIn(
    async ({ path }) => {
      const other = await newDirectory();
      return withHandle(actor, other.path, deleting, renameTo(`${path}\\new`));
    },
    async ({ path }) => (await newDirectory()).directory.rename(`${path}/new`),
  ),
  rename: {
    smb: ({ path }) => withHandle(actor, path, deleting, renameTo(freshName("renamed"))),
    rest: ({ directory }) => directory.rename(freshName("renamed")),
    refused: [...pending, ...openInside, "open, sharing nothing"],
    // Documented for handles of the directory itself, whatever they share.
    refusedByRest: open,
  },
  "rename a directory onto it": {
    smb: async ({ path }) => {
      const other = await newDirectory();
      return withHandle(actor, other.path, deleting, renameTo(path, true));
    },
    rest: async ({ path }) => {
      const other = await newDirectory();
      await other.directory.rename(path, { replaceIfExists: true });
    },
    refused: Object.keys(states),
  },
  "rename a file onto it": {
    smb: async ({ path }) => {
      const { name } = await restFile();
      return withHandle(actor, name, { access: Access.delete }, renameTo(path, true));
    },
    rest: async ({ path }) => (await restFile()).file.rename(path, { replaceIfExists: true }),
    refused: Object.keys(states),
  },
  delete: removing(({ path }) => withHandle(actor, path, deleting, setDisposition)),
  "delete on close": removing(async ({ path }) => {
    const options = Option.directory | Option.deleteOnClose;
    const status = await withHandle(actor, path, { access: Access.delete, options });
    if (status !== Status.success) return status;
    // The disposition succeeds but a directory with entries is not deleted, which only a lookup
    // shows.
    const stays = await withHandle(actor, path, { access: Access.look });
    return stays === Status.success ? Status.directoryNotEmpty : Status.success;
  }),
  "set attributes": changing(
    ({ path }) => withHandle(actor, path, { access: Right.writeAttributes }, setAttributes(0x12)),
    ({ directory }) =>
      directory.setProperties({ fileAttributes: FileSystemAttributes.parse("Hidden | Directory") }),
  ),
  "set rights": changing(
    ({ path }) => withHandle(actor, path, { access: Right.writeDac }, setRights(sddl)),
    ({ directory }) => directory.setProperties({ filePermission: sddl }),
  ),
};

describe("SMB and REST decide alike on changes to a directory that is", () => {
  it.each(Object.entries(states))("%s", async (name, state) => {
    await expectVerdicts(operations, name, state);
  });
});
