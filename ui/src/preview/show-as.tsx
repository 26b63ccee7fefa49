import type { JSX } from "preact";
import { Choice } from "../parts/field.tsx";
import type { PreviewKind } from "./kind.ts";

const choices = [
  ["auto", "Automatic"],
  ["text", "Text"],
  ["hex", "Hexadecimal"],
] as const;

interface ShowAsProps {
  /** Undefined: by type and name. */
  readonly chosen: PreviewKind | undefined;
  readonly onChange: (kind: PreviewKind | undefined) => void;
}

export function ShowAs({ chosen, onChange }: ShowAsProps): JSX.Element {
  return (
    <Choice
      label="Show as"
      value={chosen ?? "auto"}
      options={choices}
      onChange={(value) => onChange(value === "auto" ? undefined : (value as PreviewKind))}
    />
  );
}
