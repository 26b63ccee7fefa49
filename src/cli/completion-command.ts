import { serviceNames } from "../protocol/names.ts";
import {
  defineCommand,
  type Argument,
  type Command,
  type Option,
  type Options,
} from "./command.ts";

/** `etagere completion`: prints a script for the shell of the user, which completes commands,
 *  options and their values. It is made from the declarations of all commands. */
export const completionCommand = defineCommand({
  name: "completion",
  summary: "print the completion of bash, zsh or fish",
  description: [
    "Prints a script with which a shell completes commands, options and their values.",
    'bash, for the present shell: eval "$(etagere completion bash)"',
    "zsh: etagere completion zsh > a file _etagere in a folder of $fpath",
    "fish: etagere completion fish > ~/.config/fish/completions/etagere.fish",
  ],
  arguments: [
    { value: "SHELL", kind: "choice", choices: ["bash", "zsh", "fish"], help: "bash, zsh or fish" },
  ],
  exitCodes: ["the script was printed", "no such shell"],
  example: "etagere completion bash > ~/.local/share/bash-completion/completions/etagere",
  run: async ({ words: [shell = ""] }) => {
    // Imported here, because `commands.ts` imports this file: a static import would be a cycle.
    const { commands, firstWords } = await import("./commands.ts");
    const { serverOptions } = await import("./command-line.ts");
    const table = { firstWords, serverOptions, commands: [...commands.values()] };
    const scripts: Readonly<Record<string, (table: CommandTable) => string>> = {
      bash: bashScript,
      zsh: zshScript,
      fish: fishScript,
    };
    return { text: scripts[shell]?.(table) ?? "" };
  },
});

/** Everything that may follow `etagere` on a command line. */
interface CommandTable {
  /** The first words, each with a description. */
  readonly firstWords: ReadonlyMap<string, string>;
  /** Options of the server, after `etagere` or after the name of a service. */
  readonly serverOptions: Options;
  readonly commands: readonly Command[];
}

/** The words that a shell offers for a value; empty for paths and for free text. */
function valueWords({ kind, choices = [] }: Option | Argument): string {
  if (kind === "choice") return choices.join(" ");
  if (kind === "workers") return "auto";
  if (kind === "host") return "127.0.0.1 0.0.0.0 localhost";
  return "";
}

/** What a shell offers for a value: files, or only folders. Undefined if it is no path. */
function pathKindOf({ kind }: Option | Argument): "file" | "folder" | undefined {
  if (kind === "stream") return "file";
  return kind === "file" || kind === "folder" ? kind : undefined;
}

function optionWords(options: Options): readonly string[] {
  return Object.entries(options).flatMap(([name, { short }]) =>
    short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
  );
}

function spellings(name: string, { short }: Option): string {
  return short === undefined ? `--${name}` : `--${name}|-${short}`;
}

/** What a shell offers after the name of a command: actions, or values of the first argument. */
function nextWords({ actions, arguments: [first] }: Command): string {
  const names = Object.keys(actions);
  return names.length > 0 ? names.join(" ") : first === undefined ? "" : valueWords(first);
}

function bashScript({ firstWords, serverOptions, commands }: CommandTable): string {
  const cases = [
    bashCase(["", ...serviceNames].map((name) => `"${name}"`).join("|"), serverOptions, ""),
    ...commands.map((command) =>
      bashCase(
        command.name,
        { ...command.options, help: { kind: "switch", short: "h", help: "" } },
        nextWords(command),
        pathsOf(command),
      ),
    ),
  ];
  return `# Completion of etagere for bash, from "etagere completion bash".
_etagere() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} name="" words="" kind=""
  [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} != -* ]] && name=\${COMP_WORDS[1]}
  case $name in
${cases.join("\n")}
  esac
  [[ -z $name && $COMP_CWORD -eq 1 && $word != -* ]] && words="${[...firstWords.keys()].join(" ")}"
  COMPREPLY=()
  case $kind in
    file) COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null; return ;;
    folder) COMPREPLY=($(compgen -d -- "$word")); compopt -o filenames 2>/dev/null; return ;;
    value) return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _etagere etagere
`;
}

/** What a shell offers for the arguments of a command: files or folders. Undefined: no paths. */
function pathsOf({ arguments: words }: Command): "file" | "folder" | undefined {
  const kinds = words.map(pathKindOf);
  return kinds.find((kind) => kind === "file") ?? kinds.find((kind) => kind !== undefined);
}

function bashCase(
  pattern: string,
  options: Options,
  next: string,
  paths?: "file" | "folder",
): string {
  const values = Object.entries(options)
    .filter(([, { kind }]) => kind !== "switch")
    .map(([name, option]) => {
      const words = valueWords(option);
      const effect = words === "" ? `kind=${pathKindOf(option) ?? "value"}` : `words="${words}"`;
      return `        ${spellings(name, option)}) ${effect} ;;`;
    });
  const others = [next, ...optionWords(options)].join(" ").trim();
  const files = paths === undefined ? "" : `; [[ $word != -* ]] && kind=${paths}`;
  return `    ${pattern})
      case $before in
${[...values, `        *) words="${others}"${files} ;;`].join("\n")}
      esac ;;`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function zshScript({ firstWords, serverOptions, commands }: CommandTable): string {
  const first = [...firstWords].map(([name, help]) => quoted(`${name}:${help}`)).join(" ");
  const cases = [
    ...commands.map((command) => {
      const next = nextWords(command);
      const rest = next === "" ? "'*:file:_files'" : quoted(`1:word:(${next})`);
      return `    ${command.name}) _arguments ${zshOptions(command.options)} ${rest} ;;`;
    }),
    `    ${serviceNames.join("|")}) _arguments ${zshOptions(serverOptions)} ;;`,
  ];
  return `#compdef etagere
# Completion of etagere for zsh, from "etagere completion zsh".
_etagere() {
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    local -a names=(${first})
    _describe command names
    return
  fi
  local name=$words[2]
  if [[ $name == -* ]]; then
    _arguments ${zshOptions(serverOptions)}
    return
  fi
  shift words
  (( CURRENT-- ))
  case $name in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _etagere ]]; then _etagere "$@"; else compdef _etagere etagere; fi
`;
}

function zshOptions(options: Options): string {
  return Object.entries(options)
    .flatMap(([name, option]) => {
      const help = option.help.replace(/[[\]:]/g, (character) => `\\${character}`);
      const words = valueWords(option);
      const path = pathKindOf(option);
      const files = path === "file" ? "_files" : "_files -/";
      const action = path === undefined ? (words === "" ? " " : `(${words})`) : files;
      const value = option.kind === "switch" ? "" : `:${option.value ?? "value"}:${action}`;
      const short = option.short === undefined ? [] : [`-${option.short}`];
      return [`--${name}`, ...short].map((word) => quoted(`${word}[${help}]${value}`));
    })
    .join(" ");
}

function fishScript({ firstWords, serverOptions, commands }: CommandTable): string {
  const names = [...firstWords.keys()].join(" ");
  const none = quoted(
    `not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(" ")}`,
  );
  const lines = [
    "complete -c etagere -f",
    ...[...firstWords].map(([name, help]) => {
      const first = quoted(`not __fish_seen_subcommand_from ${names}`);
      return `complete -c etagere -n ${first} -a ${name} -d ${quoted(help)}`;
    }),
    ...fishOptions(serverOptions, none),
    ...commands.flatMap((command) => {
      const seen = quoted(`__fish_seen_subcommand_from ${command.name}`);
      const next = nextWords(command);
      return [
        ...(next === "" ? [] : [`complete -c etagere -n ${seen} -a ${quoted(next)}`]),
        ...(pathsOf(command) === undefined ? [] : [`complete -c etagere -n ${seen} -F`]),
        ...fishOptions(command.options, seen),
      ];
    }),
  ];
  return `# Completion of etagere for fish, from "etagere completion fish".\n${lines.join("\n")}\n`;
}

function fishOptions(options: Options, condition: string): readonly string[] {
  return Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? "" : ` -s ${option.short}`;
    const words = valueWords(option);
    const others = ` -x${words === "" ? "" : ` -a ${quoted(words)}`}`;
    const taken = pathKindOf(option) === undefined ? others : " -r -F";
    const value = option.kind === "switch" ? "" : taken;
    const help = quoted(option.help);
    return `complete -c etagere -n ${condition} -l ${name}${short}${value} -d ${help}`;
  });
}
