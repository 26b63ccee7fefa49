import type { ComponentChildren, JSX } from "preact";
import { useAbilities, type Need } from "./abilities.ts";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** Accessible name of a button without text. */
  readonly label?: string;
  readonly kind?: "plain" | "main" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly type?: "button" | "submit";
  readonly pressed?: boolean;
  /** -1 for a button that has an equivalent by keyboard. */
  readonly tabIndex?: number;
  /** What the login must be allowed to do; otherwise the button is not shown. */
  readonly needs?: Need;
}

export function Button(props: ButtonProps): JSX.Element | null {
  const { children, icon, label, kind = "plain", disabled = false, type = "button" } = props;
  const abilities = useAbilities();
  if (!abilities[props.needs ?? "read"]) return null;
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? " bare" : ""}`}
      disabled={disabled}
      aria-label={label}
      title={label}
      aria-pressed={props.pressed}
      tabIndex={props.tabIndex}
      onClick={props.onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}
