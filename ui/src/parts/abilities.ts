import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** What the login may do with what the page shows. A command names the one it needs. */
export interface Abilities {
  readonly read: boolean;
  /** Write blobs, entities and files, put messages. */
  readonly write: boolean;
  readonly delete: boolean;
  /** Write to any container or share of the account, as the target of a copy. */
  readonly copy: boolean;
  /** Delete here, and write there. */
  readonly move: boolean;
  /** Create, change and delete the container, queue, table or share itself. */
  readonly manage: boolean;
  /** Dequeue messages. */
  readonly process: boolean;
  /** Change messages in flight. */
  readonly update: boolean;
  /** Change the tags of blobs. */
  readonly tag: boolean;
  /** What needs an account key: closing SMB sessions and handles. */
  readonly administer: boolean;
}

export type Need = keyof Abilities;

export const allAbilities: Abilities = {
  read: true,
  write: true,
  delete: true,
  copy: true,
  move: true,
  manage: true,
  process: true,
  update: true,
  tag: true,
  administer: true,
};

/** Set by the app for the page that it shows. */
export const AbilitiesContext = createContext<Abilities>(allAbilities);

/** What the login may do: a principal sees no command that its roles do not permit. */
export function useAbilities(): Abilities {
  return useContext(AbilitiesContext);
}
