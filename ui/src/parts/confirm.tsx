import type { JSX } from "preact";
import { FormDialog } from "./dialog.tsx";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => Promise<string | undefined>;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Confirm(props: ConfirmProps): JSX.Element {
  return (
    <FormDialog
      title={props.title}
      action={props.action}
      danger
      onClose={props.onClose}
      onSubmit={props.onConfirm}
    >
      <p class="wrap">{props.text}</p>
    </FormDialog>
  );
}
