import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Menu, type MenuItem, type Point } from "./menu.tsx";

interface OpenMenu {
  readonly label: string;
  readonly at: Point;
  readonly items: readonly MenuItem[];
}

/** The menu of a row: `open` shows it, `menu` is the element to render. */
export function useMenu(): {
  readonly open: (menu: OpenMenu) => void;
  readonly menu: JSX.Element | null;
} {
  const [shown, setShown] = useState<OpenMenu>();
  const close = (): void => setShown(undefined);
  const menu = shown === undefined ? null : <Menu {...shown} onClose={close} />;
  return { open: setShown, menu };
}
