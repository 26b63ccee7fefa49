type Variables = Readonly<Record<string, string>>;

/** How each shell sets variables. */
export const shells = {
  sh: (variables: Variables) => lines(variables, (name, value) => `export ${name}=${inSh(value)}`),
  powershell: (variables: Variables) =>
    lines(variables, (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`),
  json: (variables: Variables) => `${JSON.stringify(variables, undefined, 2)}\n`,
} as const;

export type Shell = keyof typeof shells;

export function environmentText(variables: Variables, shell: Shell): string {
  return shells[shell](variables);
}

function lines(variables: Variables, line: (name: string, value: string) => string): string {
  return Object.entries(variables)
    .map(([name, value]) => `${line(name, value)}\n`)
    .join("");
}

function inSh(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
