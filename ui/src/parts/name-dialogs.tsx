import type { ComponentChildren, JSX } from "preact";
import type { Result } from "../result.ts";
import { Confirm } from "./confirm.tsx";
import { FormDialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { textIn } from "./form-values.ts";
import { deleteNames, describeNames, type NameBatch } from "./name-actions.ts";
import type { Named } from "./name-types.ts";
import { describeFailure } from "./notices.tsx";

export type NameDialog<Row> =
  | { readonly kind: "create" }
  | { readonly kind: "delete"; readonly row: Row }
  | { readonly kind: "delete-batch"; readonly batch: NameBatch<Row> };

interface NameDialogsProps<Row extends Named> {
  readonly dialog: NameDialog<Row> | undefined;
  /** The kind of resource, for example `container`. */
  readonly one: string;
  readonly many: string;
  readonly hint: string;
  readonly create: (name: string, values: FormData) => Promise<Result<unknown>>;
  readonly createFields?: ComponentChildren;
  readonly remove: (row: Row) => Promise<Result<unknown>>;
  readonly describe?: (row: Row) => string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Dialogs that create and delete containers, tables, queues and shares. */
export function NameDialogs<Row extends Named>(props: NameDialogsProps<Row>): JSX.Element | null {
  const { dialog, one, hint, onClose, onDone } = props;
  const finish = async (
    work: Promise<Result<unknown>>,
    field = "",
  ): Promise<string | undefined> => {
    const result = await work;
    if (!result.ok) return field + describeFailure(result.failure);
    onDone();
    return undefined;
  };
  switch (dialog?.kind) {
    case undefined:
      return null;
    case "create":
      return (
        <FormDialog
          title={`New ${one}`}
          action="Create"
          onClose={onClose}
          onSubmit={(values) => finish(props.create(textIn(values, "name"), values), "Name: ")}
        >
          <Field label="Name" name="name" required autoFocus hint={hint} />
          {props.createFields}
        </FormDialog>
      );
    case "delete": {
      const { row } = dialog;
      const described = props.describe?.(row) ?? row.name;
      return (
        <Confirm
          title={`Delete ${one}`}
          text={`Delete ${described} with everything in it?`}
          action="Delete"
          onConfirm={() => finish(props.remove(row))}
          onClose={onClose}
        />
      );
    }
    case "delete-batch":
      return <DeleteBatch {...props} batch={dialog.batch} />;
  }
}

interface DeleteBatchProps<Row extends Named> extends NameDialogsProps<Row> {
  readonly batch: NameBatch<Row>;
}

/** Deletion of several rows runs as a job, which shows progress and failures. */
function DeleteBatch<Row extends Named>(props: DeleteBatchProps<Row>): JSX.Element {
  const { batch, remove, onClose } = props;
  const title = `Delete ${describeNames(batch, props)}`;
  return (
    <Confirm
      title="Delete"
      text={`${title} with everything in them?`}
      action="Delete"
      onConfirm={() => {
        deleteNames(batch, { title, remove });
        return Promise.resolve(undefined);
      }}
      onClose={onClose}
    />
  );
}
