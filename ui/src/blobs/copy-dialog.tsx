import type { JSX } from "preact";
import { textIn } from "../parts/form-values.ts";
import { createSas, sourceUrl } from "../admin/sas.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { copyBlob } from "../rest/blob-actions.ts";
import { getProperties, type BlobPlace } from "../rest/blob.ts";

export interface CopyDialogProps {
  readonly place: BlobPlace;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The dialog that copies a blob to another name or container of the account. */
export function CopyDialog({ place, onClose, onDone }: CopyDialogProps): JSX.Element {
  const copy = async (values: FormData): Promise<string | undefined> => {
    const { account, container, name, snapshot, version } = place;
    const source = await createSas({
      kind: "service",
      account,
      service: "blob",
      container,
      path: name,
      snapshot,
      versionId: version,
      permissions: "r",
    });
    if (!source.ok) return describeFailure(source.failure);
    const target: BlobPlace = {
      account,
      container: textIn(values, "container"),
      name: textIn(values, "name"),
    };
    const present = values.has("overwrite") ? await getProperties(target) : undefined;
    const condition = present?.ok === true ? { ifMatch: present.value.etag } : { ifNoneMatch: "*" };
    const result = await copyBlob(target, { source: sourceUrl(source.value), condition });
    if (!result.ok) return describeFailure(result.failure);
    notify(
      "good",
      result.value === "pending" ? "Copy started; it continues in the server" : "Blob copied",
    );
    onDone();
    return undefined;
  };
  return (
    <FormDialog title={`Copy ${place.name}`} action="Copy" onClose={onClose} onSubmit={copy}>
      <Field label="Target container" name="container" value={place.container} required />
      <Field label="Name" name="name" value={place.name} required autoFocus />
      <Check name="overwrite">Overwrite an existing blob</Check>
    </FormDialog>
  );
}
