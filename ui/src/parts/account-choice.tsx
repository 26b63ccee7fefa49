import type { JSX } from "preact";
import { accounts } from "../accounts.ts";
import { useStore } from "../store.ts";
import { Choice } from "./field.tsx";

interface AccountChoiceProps {
  readonly value: string;
  readonly onChange: (account: string) => void;
}

/** The account of a target; nothing if there is only one. */
export function AccountChoice({ value, onChange }: AccountChoiceProps): JSX.Element | null {
  const known = useStore(accounts);
  if (known.length < 2) return null;
  const options = known.map(({ name }) => [name, name] as const);
  return <Choice label="Target account" value={value} options={options} onChange={onChange} />;
}
