import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { notify } from "./notices.tsx";

/** Text with a copy button. Without access to the clipboard the text is selected instead. */
export function CopyText({
  label,
  text,
}: {
  readonly label: string;
  readonly text: string;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notify("good", `${label} copied`);
    } catch {
      input.current?.select();
    }
  };
  return (
    <div class="row">
      <label class="field">
        <span class="field-label">{label}</span>
        <input ref={input} class="mono" readOnly value={text} />
      </label>
      <Button icon="copy" label={`Copy ${label}`} onClick={() => void copy()} />
    </div>
  );
}
