import type { JSX } from "preact";
import type { Result } from "../result.ts";
import { Confirm } from "./confirm.tsx";
import { FormDialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { textIn } from "./form-values.ts";
import { describeFailure } from "./notices.tsx";

export interface NameDialogsProps {
  /** The kind of resource, for example `container`. */
  readonly one: string;
  readonly hint: string;
  readonly isCreating: boolean;
  readonly toDelete: string | undefined;
  readonly create: (name: string) => Promise<Result<unknown>>;
  readonly remove: (name: string) => Promise<Result<unknown>>;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Dialogs that create and delete containers, tables, queues and shares. */
export function NameDialogs(props: NameDialogsProps): JSX.Element | null {
  const { one, hint, isCreating, toDelete, onClose, onDone } = props;
  const finish = async (
    work: Promise<Result<unknown>>,
    field = "",
  ): Promise<string | undefined> => {
    const result = await work;
    if (!result.ok) return field + describeFailure(result.failure);
    onDone();
    return undefined;
  };
  if (isCreating) {
    return (
      <FormDialog
        title={`New ${one}`}
        action="Create"
        onClose={onClose}
        onSubmit={(values) => finish(props.create(textIn(values, "name")), "Name: ")}
      >
        <Field label="Name" name="name" required autoFocus hint={hint} />
      </FormDialog>
    );
  }
  if (toDelete === undefined) return null;
  return (
    <Confirm
      title={`Delete ${one}`}
      text={`Delete ${toDelete} with everything in it?`}
      action="Delete"
      onConfirm={() => finish(props.remove(toDelete))}
      onClose={onClose}
    />
  );
}
