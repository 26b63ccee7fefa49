import type { JSX } from "preact";
import { textIn } from "../parts/form-values.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { describeFailure } from "../parts/notices.tsx";
import { putBlob } from "../rest/blob.ts";
import { go } from "../route.ts";
import { contentTypeOf } from "../upload/upload-blob.ts";
import { folderRoute, type FolderAddress } from "./blob-route.ts";

interface NewBlobProps {
  readonly address: FolderAddress;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The dialog that creates a blob from a typed text. */
export function NewBlob({ address, onClose, onDone }: NewBlobProps): JSX.Element {
  const create = async (values: FormData): Promise<string | undefined> => {
    const name = address.prefix + textIn(values, "name");
    const text = textIn(values, "text");
    const type = contentTypeOf(new File([], name));
    const known = type === "application/octet-stream" ? "text/plain" : type;
    const result = await putBlob(
      { ...address, name },
      {
        body: text,
        headers: { "x-ms-blob-content-type": known },
        condition: { ifNoneMatch: "*" },
      },
    );
    if (!result.ok) return `Name: ${describeFailure(result.failure)}`;
    onDone();
    go(folderRoute(address, { name }));
    return undefined;
  };
  return (
    <FormDialog title="New blob" action="Create" onClose={onClose} onSubmit={create}>
      <Field label="Name" name="name" required autoFocus />
      <label class="field">
        <span class="field-label">Text</span>
        <textarea name="text" rows={6} />
      </label>
    </FormDialog>
  );
}
