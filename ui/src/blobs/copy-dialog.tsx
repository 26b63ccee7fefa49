import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { AccountChoice } from "../parts/account-choice.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { NamePicker } from "../parts/name-picker.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { copyBlobState, moveBlob, type CopySource } from "../rest/blob-move.ts";
import type { BlobAddress } from "../rest/blob.ts";

interface CopyDialogProps {
  readonly from: CopySource;
  readonly action: "Copy" | "Rename";
  readonly onClose: () => void;
  readonly onDone: (to: BlobAddress) => void;
}

/** The dialog that copies or renames one blob, also into another account. */
export function CopyDialog({ from, action, onClose, onDone }: CopyDialogProps): JSX.Element {
  const isRename = action === "Rename";
  const [account, setAccount] = useState(from.account);
  const submit = async (values: FormData): Promise<string | undefined> => {
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
      <AccountChoice value={account} onChange={setAccount} />
      <NamePicker
        label="Target container"
        name="container"
        account={account}
        service="blob"
        value={from.container}
      />
      <Field label="Name" name="name" value={from.name} required autoFocus />
      <Check name="overwrite">Overwrite an existing blob</Check>
    </FormDialog>
  );
}
