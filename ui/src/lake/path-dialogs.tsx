import type { JSX } from "preact";
import { Confirm } from "../parts/confirm.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure } from "../parts/notices.tsx";
import type { Condition } from "../rest/blob.ts";
import { ownLease } from "../rest/own-leases.ts";
import {
  createDirectory,
  deleteDirectory,
  getPathState,
  renamePath,
  type PathAddress,
} from "../rest/path.ts";

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** A path as typed, without slashes at its ends. */
function trimmed(path: string): string {
  return path.trim().replace(/^\/+|\/+$/g, "");
}

interface NewDirectoryProps extends DialogProps {
  /** The directory that gets the new one. */
  readonly parent: PathAddress;
}

export function NewDirectory({ parent, onClose, onDone }: NewDirectoryProps): JSX.Element {
  const create = async (values: FormData): Promise<string | undefined> => {
    const name = trimmed(textIn(values, "name"));
    if (name === "") return "Name: is empty.";
    const path = parent.path === "" ? name : `${parent.path}/${name}`;
    const result = await createDirectory({ ...parent, path });
    if (!result.ok) {
      return result.failure.status === 409
        ? `Name: ${path} exists. Choose another name.`
        : `Name: ${describeFailure(result.failure)}`;
    }
    onDone();
    return undefined;
  };
  return (
    <FormDialog title="New directory" action="Create" onClose={onClose} onSubmit={create}>
      <Field label="Name" name="name" required autoFocus hint="Missing parents are created" />
    </FormDialog>
  );
}

interface RenameProps extends DialogProps {
  readonly address: PathAddress;
  readonly etag: string;
  /** Called with the new address before `onDone`. */
  readonly onMoved?: (to: PathAddress) => void;
}

/** Renames with conditions on both ends: neither a changed source nor an unknown destination. */
export function RenameDialog(props: RenameProps): JSX.Element {
  const { address, etag, onClose, onDone, onMoved } = props;
  const rename = async (values: FormData): Promise<string | undefined> => {
    const container = textIn(values, "container").trim();
    const to = { account: address.account, container, path: trimmed(textIn(values, "path")) };
    if (to.path === "") return "Path: is empty.";
    const condition = await destinationCondition(to, values.has("overwrite"));
    const sourceLeaseId = ownLease("blob", [address.account, address.container, address.path]);
    const result = await renamePath(address, { to, sourceEtag: etag, sourceLeaseId, condition });
    if (!result.ok) return renameProblem(result.failure, to);
    onMoved?.(to);
    onDone();
    return undefined;
  };
  return (
    <FormDialog
      title={`Rename or move ${address.path}`}
      action="Rename"
      onClose={onClose}
      onSubmit={rename}
    >
      <Field label="Target container" name="container" value={address.container} required />
      <Field label="Path" name="path" value={address.path} required autoFocus />
      <Check name="overwrite">Replace an existing file or empty directory</Check>
    </FormDialog>
  );
}

async function destinationCondition(to: PathAddress, mayReplace: boolean): Promise<Condition> {
  const present = mayReplace ? await getPathState(to) : undefined;
  return present?.ok === true ? { ifMatch: present.value.etag } : { ifNoneMatch: "*" };
}

function renameProblem(
  failure: { readonly status: number; readonly code: string; readonly message: string },
  { container, path }: PathAddress,
): string {
  switch (failure.code) {
    case "PathAlreadyExists":
    case "ConditionNotMet":
      return `Path: ${container}/${path} exists. Choose another path, or replace it.`;
    case "DirectoryNotEmpty":
      return `Path: ${container}/${path} is a directory that is not empty.`;
    case "SourceConditionNotMet":
      return "The source was changed by another client. Refresh the list and try again.";
    case "RenameDestinationParentPathNotFound":
      return `Path: the parent directory of ${container}/${path} does not exist.`;
    case "FilesystemNotFound":
      return `Target container: ${container} does not exist.`;
    default:
      return `Path: ${describeFailure(failure)}`;
  }
}

interface DeleteDirectoryProps extends DialogProps {
  readonly address: PathAddress;
  readonly etag: string;
}

export function DeleteDirectory(props: DeleteDirectoryProps): JSX.Element {
  const { address, etag, onClose, onDone } = props;
  const remove = async (): Promise<string | undefined> => {
    const leaseId = ownLease("blob", [address.account, address.container, address.path]);
    const result = await deleteDirectory(address, { ifMatch: etag || undefined, leaseId });
    if (!result.ok) return describeFailure(result.failure);
    onDone();
    return undefined;
  };
  return (
    <Confirm
      title="Delete directory"
      text={`Delete the directory ${address.path} and all files and directories in it?`}
      action="Delete recursively"
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
