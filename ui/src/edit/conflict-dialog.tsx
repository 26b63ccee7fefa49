import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { shortEtag } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Badge } from "../parts/states.tsx";
import { hasMarks, mergedText, mergeLines, type Choice, type Chunk } from "./merge.ts";

/** A conflict between the edits of the user and a change by another client since the object was
 *  loaded. The user decides what is saved. */
export interface Conflict {
  readonly what: string;
  readonly base: string;
  readonly mine: string;
  readonly theirs: string;
  readonly baseEtag: string;
  readonly theirEtag: string;
}

interface ConflictDialogProps {
  readonly conflict: Conflict;
  /** Saves with If-Match on `theirEtag`: only the state shown here is overwritten. */
  readonly onSave: (text: string) => Promise<void>;
  readonly onDiscard: () => void;
  readonly onClose: () => void;
}

export function ConflictDialog(props: ConflictDialogProps): JSX.Element {
  const { conflict, onSave, onDiscard, onClose } = props;
  const chunks = useMemo(() => mergeLines(conflict), [conflict]);
  const [choices, setChoices] = useState<readonly (Choice | undefined)[]>([]);
  const [edited, setEdited] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const merged = edited ?? mergedText(chunks, choices);
  const conflicts = chunks.filter(({ kind }) => kind === "conflict");
  const save = async (text: string): Promise<void> => {
    setBusy(true);
    await onSave(text);
    setBusy(false);
  };
  const choose = (index: number, choice: Choice): void => {
    const next = conflicts.map((_, at) => (at === index ? choice : choices[at]));
    setChoices(next);
    setEdited(undefined);
  };
  return (
    <Dialog title={`${conflict.what} was changed by another client`} onClose={onClose} wide>
      <div class="form">
        <p class="soft">
          You began with <code>{shortEtag(conflict.baseEtag)}</code>; it is now{" "}
          <code>{shortEtag(conflict.theirEtag)}</code>. The update was rejected (412).
        </p>
        <SideBySide chunks={chunks} theirEtag={conflict.theirEtag} />
        {conflicts.map((_, index) => (
          <Decision
            key={index}
            number={index + 1}
            chosen={choices[index]}
            onChoose={(choice) => choose(index, choice)}
          />
        ))}
        <Merged text={merged} isClean={conflicts.length === 0} onChange={setEdited} />
        <footer class="dialog-foot">
          <Button onClick={onDiscard}>Discard mine</Button>
          <Button kind="danger" disabled={isBusy} onClick={() => void save(conflict.mine)}>
            Overwrite with mine
          </Button>
          <Button
            kind="main"
            disabled={isBusy || hasMarks(merged)}
            onClick={() => void save(merged)}
          >
            Save merge
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

interface MergedProps {
  readonly text: string;
  readonly isClean: boolean;
  readonly onChange: (text: string) => void;
}

function Merged({ text, isClean, onChange }: MergedProps): JSX.Element {
  return (
    <label class="field">
      <span class="field-label">Merged{isClean ? ": no conflicts" : ""}</span>
      <textarea
        rows={8}
        spellcheck={false}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

interface DecisionProps {
  readonly number: number;
  readonly chosen: Choice | undefined;
  readonly onChoose: (choice: Choice) => void;
}

function Decision({ number, chosen, onChoose }: DecisionProps): JSX.Element {
  const words = { mine: "Take mine", theirs: "Take theirs", both: "Take both" } as const;
  return (
    <div class="decision" role="group" aria-label={`Conflict ${number}`}>
      <Badge tone={chosen === undefined ? "bad" : "good"}>Conflict {number}</Badge>
      {(["mine", "theirs", "both"] as const).map((choice) => (
        <Button key={choice} pressed={chosen === choice} onClick={() => onChoose(choice)}>
          {words[choice]}
        </Button>
      ))}
    </div>
  );
}

interface SideBySideProps {
  readonly chunks: readonly Chunk[];
  readonly theirEtag: string;
}

/** Shows both texts side by side, with matching lines at the same height. */
function SideBySide({ chunks, theirEtag }: SideBySideProps): JSX.Element {
  return (
    <div class="versus" tabIndex={0} role="group" aria-label="Both versions">
      <div class="versus-head">Yours (not saved)</div>
      <div class="versus-head">
        Theirs <code>{shortEtag(theirEtag)}</code>
      </div>
      {chunks.flatMap((chunk, index) => {
        const height = Math.max(chunk.mine.length, chunk.theirs.length);
        return Array.from({ length: height }, (_, line) => [
          <Line key={`m${index}-${line}`} side="mine" chunk={chunk} line={line} />,
          <Line key={`t${index}-${line}`} side="theirs" chunk={chunk} line={line} />,
        ]);
      })}
    </div>
  );
}

interface LineProps {
  readonly side: "mine" | "theirs";
  readonly chunk: Chunk;
  readonly line: number;
}

function Line({ side, chunk, line }: LineProps): JSX.Element {
  const text = chunk[side][line];
  const isChanged = chunk.kind === side || chunk.kind === "conflict" || chunk.kind === "both";
  const tone = isChanged ? (chunk.kind === "conflict" ? " clash" : " changed") : "";
  return (
    <pre class={`versus-line${tone}${text === undefined ? " absent" : ""}`}>{text ?? " "}</pre>
  );
}
