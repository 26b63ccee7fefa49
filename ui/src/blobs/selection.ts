import { useCallback, useState } from "preact/hooks";
import type { BlobEntry } from "../rest/blob-list.ts";
import { entryKey } from "./columns.tsx";

export interface Selection {
  readonly entries: readonly BlobEntry[];
  readonly keys: ReadonlySet<string>;
  readonly toggle: (entry: BlobEntry) => void;
  readonly set: (entries: readonly BlobEntry[]) => void;
}

/** Blobs selected for deletion. Folders are prefixes, not objects, and cannot be selected. */
export function useSelection(): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, BlobEntry>>(new Map());
  const toggle = useCallback((entry: BlobEntry) => {
    if (entry.kind === "folder") return;
    setSelected((before) => {
      const next = new Map(before);
      if (!next.delete(entryKey(entry))) next.set(entryKey(entry), entry);
      return next;
    });
  }, []);
  return {
    entries: [...selected.values()],
    keys: new Set(selected.keys()),
    toggle,
    set: (entries) => setSelected(new Map(entries.map((entry) => [entryKey(entry), entry]))),
  };
}
