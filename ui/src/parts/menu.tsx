import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAbilities, type Need } from "./abilities.ts";
import { Icon, type IconName } from "./icon.tsx";

/** A position in the window, in CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A command of a context menu or of the bar of a selection. */
export interface MenuItem {
  readonly label: string;
  readonly icon: IconName;
  readonly isDangerous?: boolean;
  /** What the login must be allowed to do; otherwise the command is not shown. */
  readonly needs: Need;
  readonly run: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly at: Point;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}

const edgePixels = 8;

/** A context menu: arrows move, Enter runs, Escape closes; the focus returns to where it was. */
export function Menu({ label, at, items, onClose }: MenuProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const [address, setAddress] = useState(at);
  const abilities = useAbilities();
  const shownItems = items.filter(({ needs }) => abilities[needs]);
  useLayoutEffect(() => {
    const before = document.activeElement;
    const menu = element.current;
    if (menu !== null) {
      const { offsetWidth: width, offsetHeight: height } = menu;
      setAddress({
        x: Math.max(edgePixels, Math.min(at.x, innerWidth - width - edgePixels)),
        y: Math.max(edgePixels, Math.min(at.y, innerHeight - height - edgePixels)),
      });
      itemAt(menu, 0)?.focus();
    }
    return () => {
      const isFocusLost = document.activeElement === document.body;
      if (isFocusLost && before instanceof HTMLElement) before.focus();
    };
  }, []);
  useCloseOutside(element, onClose);
  return (
    <div
      class="menu"
      role="menu"
      aria-label={label}
      ref={element}
      style={{ left: `${address.x}px`, top: `${address.y}px` }}
      onKeyDown={(event) => walkMenu(event, onClose)}
      onContextMenu={(event) => event.preventDefault()}
    >
      {shownItems.map(({ label: words, icon, isDangerous, run }) => (
        <button
          key={words}
          type="button"
          role="menuitem"
          tabIndex={-1}
          class={isDangerous === true ? "menu-item danger" : "menu-item"}
          onClick={() => {
            onClose();
            run();
          }}
        >
          <Icon name={icon} />
          <span>{words}</span>
        </button>
      ))}
    </div>
  );
}

/** Closes the menu on a click elsewhere, and if the window loses the focus. */
function useCloseOutside(element: RefObject<HTMLElement | null>, onClose: () => void): void {
  useEffect(() => {
    const close = (event: Event): void => {
      if (!(event.target instanceof Node) || element.current?.contains(event.target) !== true) {
        onClose();
      }
    };
    addEventListener("pointerdown", close);
    addEventListener("blur", onClose);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("blur", onClose);
    };
  }, []);
}

function itemAt(menu: Element, index: number): HTMLElement | undefined {
  const items = menu.querySelectorAll<HTMLElement>("[role=menuitem]");
  return items[(index + items.length) % items.length];
}

function walkMenu(event: KeyboardEvent, onClose: () => void): void {
  const menu = event.currentTarget as HTMLElement;
  const items = [...menu.querySelectorAll("[role=menuitem]")];
  const present = items.indexOf(document.activeElement ?? menu);
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: present + 1,
    ArrowUp: present - 1,
    Home: 0,
    End: items.length - 1,
  };
  const target = targets[event.key];
  if (target !== undefined) itemAt(menu, target)?.focus();
  else if (event.key === "Escape" || event.key === "Tab") onClose();
  else return;
  // The keys belong to the menu, not to the list below it.
  event.stopPropagation();
  event.preventDefault();
}
