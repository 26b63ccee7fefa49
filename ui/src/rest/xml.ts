/** The root element of an XML text. This file has the helpers for the XML of blob, queue and
 *  file. */
export function parseXml(text: string): Element {
  return new DOMParser().parseFromString(text, "application/xml").documentElement;
}

export function childOf(parent: Element | undefined, name: string): Element | undefined {
  for (let child = parent?.firstElementChild ?? null; child; child = child.nextElementSibling) {
    if (child.tagName === name) return child;
  }
  return undefined;
}

export function childrenOf(parent: Element | undefined, name: string): readonly Element[] {
  return parent === undefined ? [] : [...parent.children].filter((one) => one.tagName === name);
}

export function textOf(parent: Element | undefined, name: string): string | undefined {
  return childOf(parent, name)?.textContent ?? undefined;
}

export function numberOf(parent: Element | undefined, name: string): number | undefined {
  const text = textOf(parent, name);
  return text === undefined || text === "" ? undefined : Number(text);
}

/** The name of a listed object. Names with characters that XML cannot contain are
 *  percent-encoded. */
export function nameOf(element: Element): string {
  const name = childOf(element, "Name");
  const text = name?.textContent ?? "";
  return name?.getAttribute("Encoded") === "true" ? decodeURIComponent(text) : text;
}

/** The pairs in an element such as `<Metadata><a>b</a></Metadata>`. */
export function pairsOf(parent: Element | undefined): Readonly<Record<string, string>> {
  if (parent === undefined) return {};
  return Object.fromEntries([...parent.children].map((one) => [one.tagName, one.textContent]));
}

/** The tags in an element that has a `TagSet`. */
export function tagsOf(element: Element | undefined): Readonly<Record<string, string>> {
  const tags = childrenOf(childOf(element, "TagSet"), "Tag");
  const pairs = tags.map((tag) => [textOf(tag, "Key") ?? "", textOf(tag, "Value") ?? ""] as const);
  return Object.fromEntries(pairs);
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
