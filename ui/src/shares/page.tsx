import type { JSX } from "preact";
export function SharesPage(_: {
  readonly account: string;
  readonly share: string | undefined;
  readonly folder: string;
  readonly query: Readonly<Record<string, string>>;
}): JSX.Element {
  return <p />;
}
