import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { describeFailure, notify } from "../parts/notices.tsx";
import type { Result } from "../result.ts";
import { ConflictDialog, type Conflict } from "./conflict-dialog.tsx";

/** The text of an object with the ETag of its state. */
export interface Read {
  readonly text: string;
  readonly etag: string;
}

interface Optimistic {
  readonly what: string;
  /** Writes the object with If-Match on this ETag. */
  readonly write: (text: string, ifMatch: string) => Promise<Result<unknown>>;
  readonly read: () => Promise<Result<Read>>;
  readonly onSaved: () => void;
  readonly onDiscarded: (theirs: Read) => void;
}

interface Saving {
  readonly save: (text: string, began: Read) => Promise<boolean>;
  readonly dialog: JSX.Element | null;
  /** Why the last attempt failed; shown until the next one. */
  readonly problem: string | undefined;
  /** Key of the form: another one when a conflict is settled, because the values that the user has
   *  typed are not those of the form any more. */
  readonly formKey: number;
}

/**
 * Saves an object with If-Match on the ETag that was loaded. If the object was changed since then,
 * shows both versions. What the user decides is saved with If-Match on the version that was shown.
 */
export function useOptimistic(options: Optimistic): Saving {
  const { what, write, read, onSaved, onDiscarded } = options;
  const [conflict, setConflict] = useState<Conflict>();
  const [problem, setProblem] = useState<string>();
  const [formKey, setFormKey] = useState(0);
  const save = async (text: string, began: Read): Promise<boolean> => {
    setProblem(undefined);
    const result = await write(text, began.etag);
    if (result.ok) {
      setConflict(undefined);
      notify("good", `${what} saved`);
      onSaved();
      return true;
    }
    const isConflict = result.failure.status === 412 && !result.failure.code.startsWith("Lease");
    const theirs = isConflict ? await read() : undefined;
    if (theirs?.ok !== true) {
      setProblem(describeFailure(result.failure));
      return false;
    }
    setConflict({
      what,
      base: began.text,
      mine: text,
      theirs: theirs.value.text,
      baseEtag: began.etag,
      theirEtag: theirs.value.etag,
    });
    return false;
  };
  const dialog =
    conflict === undefined ? null : (
      <ConflictDialog
        key={conflict.theirEtag}
        conflict={conflict}
        onClose={() => setConflict(undefined)}
        onDiscard={() => {
          setConflict(undefined);
          setFormKey(formKey + 1);
          onDiscarded({ text: conflict.theirs, etag: conflict.theirEtag });
        }}
        onSave={async (text) => {
          const isSaved = await save(text, { text: conflict.theirs, etag: conflict.theirEtag });
          if (isSaved) setFormKey(formKey + 1);
        }}
      />
    );
  return { save, dialog, problem, formKey };
}
