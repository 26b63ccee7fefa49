import type { JSX } from "preact";
import { textIn } from "../parts/form-values.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { describeFailure } from "../parts/notices.tsx";
import { putBlob } from "../rest/blob.ts";
import { go } from "../route.ts";
import { contentTypeOf } from "../upload/upload-blob.ts";
import { folderRoute, type FolderPlace } from "./blob-route.ts";

export interface NewBlobProps {
  readonly place: FolderPlace;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The dialog that creates a blob from a typed text. */
export function NewBlob({ place, onClose, onDone }: NewBlobProps): JSX.Element {
  const create = async (values: FormData): Promise<string | undefined> => {
    const name = place.prefix + textIn(values, "name");
    const text = textIn(values, "text");
    const type = contentTypeOf(new File([], name));
    const known = type === "application/octet-stream" ? "text/plain" : type;
    const result = await putBlob(
      { ...place, name },
      {
        body: text,
        headers: { "x-ms-blob-content-type": known },
        condition: { ifNoneMatch: "*" },
      },
    );
    if (!result.ok) return `Name: ${describeFailure(result.failure)}`;
    onDone();
    go(folderRoute(place, { name }));
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
