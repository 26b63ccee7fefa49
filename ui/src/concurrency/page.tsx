import type { JSX } from "preact";
export function ConcurrencyPage(_: { readonly tab: string }): JSX.Element {
  return <p />;
}
