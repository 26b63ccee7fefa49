import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface EntryNameProps {
  readonly icon: IconName;
  readonly text: string;
  /** The whole name, if `text` is a part of it. */
  readonly whole?: string;
  /** Whether the row can be entered, like a folder or a container. */
  readonly isFolder?: boolean;
}

const tailCharacters = 14;

/** The name of a row. In a narrow column its middle is left out: names often differ only at the
 *  end. */
export function EntryName({ icon, text, whole, isFolder = false }: EntryNameProps): JSX.Element {
  const cut = text.length > 2 * tailCharacters ? text.length - tailCharacters : text.length;
  return (
    <span class={isFolder ? "name folder" : "name"}>
      <Icon name={icon} />
      <span class="name-text" title={whole ?? text}>
        <span>{text.slice(0, cut)}</span>
        {cut < text.length && <span class="name-tail">{text.slice(cut)}</span>}
      </span>
    </span>
  );
}
