import type { JSX } from "preact";
export function QueuesPage(_: {
  readonly account: string;
  readonly queue: string | undefined;
}): JSX.Element {
  return <p />;
}
