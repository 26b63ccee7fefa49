import type { JSX } from "preact";
export function HealthPage(): JSX.Element {
  return <p />;
}
