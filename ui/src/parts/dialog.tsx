import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { leaveEditor, useUnsaved } from "../edit/unsaved.ts";
import { Button } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  /** Called when the user closes the dialog; undefined if it cannot be dismissed. */
  readonly onClose?: (() => void) | undefined;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

/** The `dialog` element: traps the focus, closes on Escape and restores the focus. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <header class="dialog-head">
        <h2 id={heading}>{title}</h2>
        {onClose !== undefined && (
          <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
        )}
      </header>
      {children}
    </dialog>
  );
}

/** Whether it is worth asking before the input is lost: a name is typed again at once. */
function isLongText(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement;
}

interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly wide?: boolean;
  /** Whether the action must wait, for example for facts that the dialog shows. */
  readonly disabled?: boolean | undefined;
  readonly onClose?: () => void;
  /** Resolves to the error message, or to undefined if the dialog may close. */
  readonly onSubmit: (values: FormData) => Promise<string | undefined>;
  readonly children: ComponentChildren;
}

export function FormDialog(props: FormDialogProps): JSX.Element {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [isTyped, setTyped] = useState(false);
  const editor = useUnsaved(isTyped);
  const { onClose } = props;
  const close = onClose && (() => leaveEditor(onClose, { editor }));
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    const wrong = await props.onSubmit(new FormData(event.currentTarget as HTMLFormElement));
    setBusy(false);
    setProblem(wrong);
    if (wrong !== undefined) return;
    setTyped(false);
    onClose?.();
  };
  return (
    <Dialog title={props.title} onClose={close} wide={props.wide ?? false}>
      <form
        class="form"
        onInput={({ target }) => setTyped((before) => before || isLongText(target))}
        onSubmit={(event) => void submit(event)}
      >
        {props.children}
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <footer class="dialog-foot">
          {onClose !== undefined && <Button onClick={onClose}>Cancel</Button>}
          <Button
            type="submit"
            kind={props.danger === true ? "danger" : "main"}
            disabled={isBusy || props.disabled === true}
          >
            {props.action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
