import { createStore } from "./store.ts";

type Theme = "auto" | "light" | "dark";

const key = "etagere-theme";

function stored(): Theme {
  const value = localStorage.getItem(key);
  return value === "light" || value === "dark" ? value : "auto";
}

/** The chosen colours; `auto` follows the system. Kept in the browser. */
export const theme = createStore<Theme>(stored());

function apply(): void {
  const chosen = theme.get();
  if (chosen === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}

export function nextTheme(): void {
  const order: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
  theme.update((present) => order[present]);
  localStorage.setItem(key, theme.get());
  apply();
}

apply();
