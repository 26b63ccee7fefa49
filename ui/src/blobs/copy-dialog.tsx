import type { JSX } from "preact";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import { copyBlobState, moveBlob, type CopySource } from "../rest/blob-move.ts";
import type { BlobAddress } from "../rest/blob.ts";

interface CopyDialogProps {
  readonly from: CopySource;
  readonly action: "Copy" | "Rename";
  readonly onClose: () => void;
  readonly onDone: (to: BlobAddress) => void;
}

/** The dialog that copies or renames one blob, in the account. */
export function CopyDialog({ from, action, onClose, onDone }: CopyDialogProps): JSX.Element {
  const isRename = action === "Rename";
  const submit = async (values: FormData): Promise<string | undefined> => {
    const { account } = from;
    const to: BlobAddress = {
      account,
      container: textIn(values, "container"),
      name: textIn(values, "name"),
    };
    const work = isRename ? moveBlob : copyBlobState;
    const result = await work(from, to, { mayReplace: values.has("overwrite") });
    if (!result.ok) return describeFailure(result.failure);
    notify("good", isRename ? "Blob renamed" : "Blob copied");
    onDone(to);
    return undefined;
  };
  return (
    <FormDialog
      title={`${action} ${from.name}`}
      action={action}
      onClose={onClose}
      onSubmit={submit}
    >
      <Field label="Target container" name="container" value={from.container} required />
      <Field label="Name" name="name" value={from.name} required autoFocus />
      <Check name="overwrite">Overwrite an existing blob</Check>
    </FormDialog>
  );
}
