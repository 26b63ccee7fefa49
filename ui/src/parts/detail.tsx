import type { ComponentChildren, JSX } from "preact";
import { leaveEditor } from "../edit/unsaved.ts";
import { Button } from "./button.tsx";

interface DetailProps {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly tabs?: ComponentChildren;
  readonly isLarge?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Shows the details of one object beside the list, or over it on a narrow screen. */
export function Detail(props: DetailProps): JSX.Element {
  return (
    <aside class={props.isLarge === true ? "detail large" : "detail"} aria-label={props.title}>
      <header class="detail-head">
        <h2>
          {props.title} {props.note}
        </h2>
        <span data-close>
          <Button
            kind="quiet"
            icon="close"
            label="Close details"
            onClick={() => leaveEditor(props.onClose)}
          />
        </span>
      </header>
      {props.actions !== undefined && <div class="detail-actions">{props.actions}</div>}
      {props.tabs}
      <div class="detail-body">{props.children}</div>
    </aside>
  );
}

export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}): JSX.Element {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
