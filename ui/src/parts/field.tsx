import type { ComponentChildren, JSX } from "preact";

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly value?: string;
  readonly hint?: string;
  readonly type?: "text" | "password" | "number" | "datetime-local";
  readonly required?: boolean;
  readonly pattern?: string;
  readonly autoFocus?: boolean;
  readonly onInput?: (value: string) => void;
}

/** A labelled input field of a form. */
export function Field(props: FieldProps): JSX.Element {
  const typed = { type: props.type ?? "text" } as { type: "text" };
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      <input
        name={props.name}
        {...typed}
        defaultValue={props.value ?? ""}
        required={props.required ?? false}
        pattern={props.pattern}
        autoFocus={props.autoFocus ?? false}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => props.onInput?.(event.currentTarget.value)}
      />
      {props.hint !== undefined && <span class="hint">{props.hint}</span>}
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly name?: string;
  readonly value?: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChange?: (value: string) => void;
}

/** A labelled selection of one of several values. */
export function Choice(props: ChoiceProps): JSX.Element {
  return (
    <label class="field">
      <span class="field-label">{props.label}</span>
      <select
        name={props.name}
        value={props.value}
        onInput={(event) => choose(event.currentTarget, props)}
      >
        {props.options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The chosen value is shown when the page has accepted it, which may ask about changes first. */
function choose(select: HTMLSelectElement, { value, onChange }: ChoiceProps): void {
  const chosen = select.value;
  if (onChange === undefined) return;
  if (value !== undefined) select.value = value;
  onChange(chosen);
}

interface CheckProps {
  readonly name?: string;
  readonly checked?: boolean;
  readonly value?: string;
  readonly children: ComponentChildren;
  readonly onChange?: (isChecked: boolean) => void;
}

/** A check box with its text. */
export function Check(props: CheckProps): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        name={props.name}
        value={props.value}
        {...(props.onChange === undefined
          ? { defaultChecked: props.checked ?? false }
          : { checked: props.checked ?? false })}
        onInput={(event) => props.onChange?.(event.currentTarget.checked)}
      />
      <span>{props.children}</span>
    </label>
  );
}
