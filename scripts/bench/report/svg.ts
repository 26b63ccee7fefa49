/** The part of SVG that the plots use. Text is escaped, numbers are rounded to 2 digits. */
export type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, inside = ""): string {
  const words = Object.entries(attributes).map(([key, value]) => ` ${key}="${valueOf(value)}"`);
  return inside === ""
    ? `<${name}${words.join("")}/>`
    : `<${name}${words.join("")}>${inside}</${name}>`;
}

export function label(attributes: Attributes, text: string): string {
  return element("text", attributes, escapeText(text));
}

/** A tooltip. */
export function tip(text: string): string {
  return element("title", {}, escapeText(text));
}

export function picture(size: { width: number; height: number }, parts: readonly string[]): string {
  const { width, height } = size;
  const view = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}` };
  const font = { "font-family": "system-ui, sans-serif", "font-size": 12 };
  const ground = element("rect", { width, height, fill: "#ffffff" });
  const inside = `\n${[ground, ...parts].join("\n")}\n`;
  return `${element("svg", { ...view, width, height, ...font }, inside)}\n`;
}

function valueOf(value: string | number): string {
  return typeof value === "number" ? String(Math.round(value * 100) / 100) : escapeText(value);
}

function escapeText(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  return text.replaceAll(/[&<>"]/g, (character) => `&${names[character] ?? ""};`);
}
