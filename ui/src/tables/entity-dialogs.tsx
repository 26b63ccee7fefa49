import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useUnsaved, leaveEditor } from "../edit/unsaved.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Problem } from "../parts/states.tsx";
import { changeEntities, deleteEntities, describeEntities, type EntityBatch } from "./bulk.ts";
import { PropertyRows, type NamedProperty } from "./property-rows.tsx";
import { rowsProblem } from "./property-rules.ts";

interface BatchDialogProps {
  readonly batch: EntityBatch;
  readonly onClose: () => void;
}

export function DeleteEntities({ batch, onClose }: BatchDialogProps): JSX.Element {
  return (
    <Confirm
      title="Delete entities"
      text={`Delete ${describeEntities(batch)}?`}
      action="Delete"
      onConfirm={() => {
        deleteEntities(batch);
        return Promise.resolve(undefined);
      }}
      onClose={onClose}
    />
  );
}

const emptyRow: NamedProperty = { name: "", type: "Edm.String", text: "" };

/** Sets and removes properties of many entities; the other properties stay. */
export function ChangeEntities({ batch, onClose }: BatchDialogProps): JSX.Element {
  const [rows, setRows] = useState<readonly NamedProperty[]>([emptyRow]);
  const [removed, setRemoved] = useState("");
  const [problem, setProblem] = useState<string>();
  const isChanged = removed !== "" || rows.some(({ name, text }) => name !== "" || text !== "");
  const editor = useUnsaved(isChanged);
  const apply = (): void => {
    const set = rows.filter(({ name, text }) => name !== "" || text !== "");
    const remove = removed.split(",").flatMap((name) => name.trim() || []);
    const isEmpty = set.length === 0 && remove.length === 0;
    const mistake = isEmpty ? "Enter a property to set or to remove." : rowsProblem(set);
    setProblem(mistake);
    if (mistake !== undefined) return;
    const pairs = set.map(({ name, type, text }) => [name, { type, text }] as const);
    changeEntities(batch, { set: Object.fromEntries(pairs), remove });
    onClose();
  };
  return (
    <Dialog
      title={`Change ${describeEntities(batch)}`}
      onClose={() => leaveEditor(onClose, { editor })}
    >
      <div class="form">
        <p class="hint">Set these properties; the others stay.</p>
        <PropertyRows rows={rows} onChange={setRows} />
        <label class="field">
          <span class="field-label">Remove these properties (names, separated by commas)</span>
          <input value={removed} onInput={({ currentTarget }) => setRemoved(currentTarget.value)} />
        </label>
        <Problem text={problem} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" onClick={apply}>
            Change entities
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
