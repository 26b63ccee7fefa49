import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { useUnsaved } from "./unsaved.ts";

interface UnsavedForm {
  readonly ref: RefObject<HTMLFormElement | null>;
  /** Called when the user changes something, also without typing. */
  readonly onInput: () => void;
  readonly onSaved: () => void;
}

/** Guards a form that is always open: leaving it with changes asks first, and Ctrl+S submits it. */
export function useUnsavedForm(): UnsavedForm {
  const ref = useRef<HTMLFormElement>(null);
  const [isChanged, setChanged] = useState(false);
  useUnsaved(isChanged, () => ref.current?.requestSubmit());
  return { ref, onInput: () => setChanged(true), onSaved: () => setChanged(false) };
}
