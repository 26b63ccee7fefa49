import type { ComponentChildren, JSX } from "preact";
import { FormDialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { textIn } from "./form-values.ts";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** Further facts that the user should know before. */
  readonly children?: ComponentChildren;
  readonly action: string;
  /** What the user has to type first; undefined if a click is enough. */
  readonly typed?: string | undefined;
  readonly disabled?: boolean;
  readonly onConfirm: () => Promise<string | undefined>;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Confirm(props: ConfirmProps): JSX.Element {
  const { typed } = props;
  const submit = (values: FormData): Promise<string | undefined> => {
    const isRight = typed === undefined || textIn(values, "typed").trim() === typed;
    return isRight ? props.onConfirm() : Promise.resolve(`Type ${typed} to confirm.`);
  };
  return (
    <FormDialog
      title={props.title}
      action={props.action}
      danger
      disabled={props.disabled}
      onClose={props.onClose}
      onSubmit={submit}
    >
      <p class="wrap">{props.text}</p>
      {props.children}
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`} name="typed" required autoFocus />
      )}
    </FormDialog>
  );
}
