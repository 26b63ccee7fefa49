import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Problem } from "../parts/states.tsx";
import { useAddedFocus } from "../parts/use-added-focus.ts";
import { useUnsaved } from "./unsaved.ts";

interface PairsEditorProps {
  readonly label: string;
  readonly pairs: Readonly<Record<string, string>>;
  readonly isEditable: boolean;
  /** The first mistake, as a sentence that names the field. */
  readonly findProblem?: (pairs: readonly Pair[]) => string | undefined;
  /** Why the last save failed. */
  readonly problem?: string | undefined;
  /** Resolves to whether the pairs are saved. */
  readonly onSave: (pairs: Readonly<Record<string, string>>) => Promise<boolean>;
}

export type Pair = readonly [name: string, value: string];

/** Shows name-value pairs, and lets the user edit them as a whole. */
export function PairsEditor(props: PairsEditorProps): JSX.Element {
  const { label, pairs, isEditable, onSave, findProblem } = props;
  const [edited, setEdited] = useState<readonly Pair[]>();
  const [isBusy, setBusy] = useState(false);
  // Before the new pairs are painted: an edit of what the user sees is kept.
  useLayoutEffect(() => setEdited(undefined), [JSON.stringify(pairs)]);
  const shown = edited ?? Object.entries(pairs);
  const set = (at: number, pair: Pair | undefined): void => {
    const next = shown.map((present, index) => (index === at ? pair : present));
    setEdited(next.filter((present) => present !== undefined));
  };
  const [isChecked, setChecked] = useState(false);
  const given = shown.filter(([name, value]) => name !== "" || value !== "");
  const mistake = isChecked ? findProblem?.(given) : undefined;
  const save = async (): Promise<void> => {
    setChecked(true);
    if (findProblem?.(given) !== undefined || isBusy) return;
    setBusy(true);
    if (await onSave(Object.fromEntries(given))) setEdited(undefined);
    setBusy(false);
  };
  useUnsaved(edited !== undefined, () => void save());
  const added = useAddedFocus(shown.length, ".pair");
  return (
    <div class="pairs" role="group" aria-label={label} ref={added.ref}>
      {shown.map(([name, value], index) => (
        <PairRow
          key={index}
          label={label}
          number={index + 1}
          pair={[name, value]}
          isEditable={isEditable}
          onChange={(pair) => set(index, pair)}
        />
      ))}
      {shown.length === 0 && <span class="soft">None</span>}
      <Problem text={mistake ?? (edited === undefined ? undefined : props.problem)} />
      {isEditable && (
        <div class="editor-bar">
          <Button icon="plus" onClick={added.adding(() => setEdited([...shown, ["", ""]]))}>
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

interface PairRowProps {
  readonly label: string;
  readonly number: number;
  readonly pair: Pair;
  readonly isEditable: boolean;
  readonly onChange: (pair: Pair | undefined) => void;
}

function PairRow({ label, number, pair, isEditable, onChange }: PairRowProps): JSX.Element {
  const [name, value] = pair;
  return (
    <div class="pair">
      <input
        aria-label={`${label} name ${number}`}
        value={name}
        readOnly={!isEditable}
        onInput={(event) => onChange([event.currentTarget.value, value])}
      />
      <input
        aria-label={`${label} value ${number}`}
        value={value}
        readOnly={!isEditable}
        onInput={(event) => onChange([name, event.currentTarget.value])}
      />
      {isEditable && (
        <Button
          kind="quiet"
          icon="close"
          label={`Remove ${name}`}
          onClick={() => onChange(undefined)}
        />
      )}
    </div>
  );
}
