import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { createStore } from "../store.ts";

/** An editor with changes that are not saved. */
interface Draft {
  /** Undefined if the editor is saved only by its own button. */
  readonly save: (() => void) | undefined;
}

interface Question {
  readonly leave: () => void;
  readonly stay: () => void;
}

const drafts = new Map<object, Draft>();
/** The question that the page shows; undefined without one. */
export const question = createStore<Question | undefined>(undefined);

export function hasUnsaved(editor?: object): boolean {
  return editor === undefined ? drafts.size > 0 : drafts.has(editor);
}

/** Runs `action`, which ends editors; with unsaved changes only after the user agreed. */
export function leaveEditor(
  action: () => void,
  { editor, stay = () => {} }: { editor?: object; stay?: () => void } = {},
): void {
  if (!hasUnsaved(editor)) return action();
  const leave = (): void => {
    if (editor === undefined) drafts.clear();
    else drafts.delete(editor);
    action();
  };
  question.set({ leave, stay });
}

/**
 * Registers an editor while it has unsaved changes: leaving it asks first, and Ctrl+S calls `save`.
 * Returns the identity of the editor for `leaveEditor`.
 */
export function useUnsaved(isUnsaved: boolean, save?: () => void): object {
  const editor = useMemo(() => ({}), []);
  const latest = useRef(save);
  latest.current = save;
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    drafts.set(editor, { save: save && (() => latest.current?.()) });
    return () => void drafts.delete(editor);
  }, [isUnsaved]);
  return editor;
}

/** Saves the editor that was changed last; called by Ctrl+S. */
export function saveLatest(): void {
  [...drafts.values()].at(-1)?.save?.();
}
