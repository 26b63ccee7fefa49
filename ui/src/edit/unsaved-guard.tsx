import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { useLeaveWarning } from "../parts/leave-warning.ts";
import { useStore } from "../store.ts";
import { hasUnsaved, question, saveLatest } from "./unsaved.ts";

/** Asks before unsaved changes are lost; also handles Ctrl+S and closing the browser tab. */
export function UnsavedGuard(): JSX.Element | null {
  const asked = useStore(question);
  useLeaveWarning(hasUnsaved);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isSave = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
      if (!isSave) return;
      event.preventDefault();
      saveLatest();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  if (asked === undefined) return null;
  const answer = (work: () => void): void => {
    question.set(undefined);
    work();
  };
  return (
    <Dialog title="Unsaved changes" onClose={() => answer(asked.stay)}>
      <div class="form">
        <p>Your changes are not saved. Discard them?</p>
        <footer class="dialog-foot">
          <Button kind="danger" onClick={() => answer(asked.leave)}>
            Discard changes
          </Button>
          <Button kind="main" onClick={() => answer(asked.stay)}>
            Keep editing
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
