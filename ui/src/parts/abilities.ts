import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { IconName } from "./icon.tsx";

/** What the login may do with the objects of the shown page. */
export interface Abilities {
  readonly write: boolean;
  readonly delete: boolean;
}

/** Set by the page that shows a service; everywhere else all commands are shown. */
export const AbilitiesContext = createContext<Abilities>({ write: true, delete: true });

/** The commands that change something, by the icon that all of them have. */
const needs: Readonly<Partial<Record<IconName, keyof Abilities>>> = {
  plus: "write",
  folder: "write",
  upload: "write",
  edit: "write",
  rename: "write",
  camera: "write",
  restore: "write",
  trash: "delete",
};

/** Returns a function that tells whether a command with an icon is shown: a principal sees no
 *  command that its roles do not permit. */
export function useIsShown(): (icon: IconName | undefined) => boolean {
  const abilities = useContext(AbilitiesContext);
  return (icon) => {
    const need = icon && needs[icon];
    return need === undefined || abilities[need];
  };
}
