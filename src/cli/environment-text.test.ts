import { expect, it } from "vitest";
import { environmentText } from "./env-command.ts";

const variables = { A: "plain", B: "it's $HOME" };

it.each([
  ["sh", "export A='plain'\nexport B='it'\\''s $HOME'\n"],
  ["powershell", "$env:A = 'plain'\n$env:B = 'it''s $HOME'\n"],
  ["json", '{\n  "A": "plain",\n  "B": "it\'s $HOME"\n}\n'],
] as const)("sets variables in %s", (shell, text) => {
  expect(environmentText(variables, shell)).toBe(text);
});
