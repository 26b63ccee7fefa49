import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";

export interface PairsEditorProps {
  readonly label: string;
  readonly pairs: Readonly<Record<string, string>>;
  readonly isEditable: boolean;
  readonly onSave: (pairs: Readonly<Record<string, string>>) => Promise<unknown>;
}

type Pair = readonly [name: string, value: string];

/** Shows name-value pairs, and lets the user edit them as a whole. */
export function PairsEditor({ label, pairs, isEditable, onSave }: PairsEditorProps): JSX.Element {
  const [edited, setEdited] = useState<readonly Pair[]>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => setEdited(undefined), [JSON.stringify(pairs)]);
  const shown = edited ?? Object.entries(pairs);
  const set = (at: number, pair: Pair | undefined): void => {
    const next = shown.map((present, index) => (index === at ? pair : present));
    setEdited(next.filter((present) => present !== undefined));
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    await onSave(Object.fromEntries(shown.filter(([name]) => name !== "")));
    setBusy(false);
  };
  return (
    <div class="pairs" role="group" aria-label={label}>
      {shown.map(([name, value], index) => (
        <div class="pair" key={index}>
          <input
            aria-label={`${label} name ${index + 1}`}
            value={name}
            readOnly={!isEditable}
            onInput={(event) => set(index, [event.currentTarget.value, value])}
          />
          <input
            aria-label={`${label} value ${index + 1}`}
            value={value}
            readOnly={!isEditable}
            onInput={(event) => set(index, [name, event.currentTarget.value])}
          />
          {isEditable && (
            <Button
              kind="quiet"
              icon="close"
              label={`Remove ${name}`}
              onClick={() => set(index, undefined)}
            />
          )}
        </div>
      ))}
      {shown.length === 0 && <span class="soft">None</span>}
      {isEditable && (
        <div class="editor-bar">
          <Button icon="plus" onClick={() => setEdited([...shown, ["", ""]])}>
            Add
          </Button>
          {edited !== undefined && (
            <>
              <Button kind="main" disabled={isBusy} onClick={() => void save()}>
                Save
              </Button>
              <Button onClick={() => setEdited(undefined)}>Discard changes</Button>
            </>
          )}
        </div>
      )}
    </div>
  );
}
