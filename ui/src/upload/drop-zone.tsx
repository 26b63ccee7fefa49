import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { useAbilities } from "../parts/abilities.ts";
import { sourcesOfDrop, type Source } from "./source.ts";

interface DropZoneProps {
  readonly hint: string;
  readonly onDrop: (sources: readonly Source[]) => void;
  readonly children: ComponentChildren;
}

/** An area that accepts dropped files and folders. */
export function DropZone({ hint, onDrop, children }: DropZoneProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const { write } = useAbilities();
  const drop = async (event: DragEvent): Promise<void> => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer !== null && write) onDrop(await sourcesOfDrop(event.dataTransfer));
  };
  return (
    <div
      class="list drop"
      role="presentation"
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true || !write) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node) || !event.currentTarget.contains(to)) setOver(false);
      }}
      onDrop={(event) => void drop(event)}
    >
      {children}
      {isOver && <div class="drop-hint">{hint}</div>}
    </div>
  );
}
