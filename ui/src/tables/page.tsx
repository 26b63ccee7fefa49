import type { JSX } from "preact";
export function TablesPage(_: {
  readonly account: string;
  readonly table: string | undefined;
}): JSX.Element {
  return <p />;
}
