// `crm completion`: prints scripts for shell completion, which ask crm itself for the words.
import { Argument, type Command } from 'commander';
import { type Config, resolveConfig } from '../settings/config.ts';
import { writeOut } from '../terminal/streams.ts';

// Bash splits words at = and : too: they are put together again, and what is before the last of them is left out.
const BASH = `# crm: add this line to ~/.bashrc:  source <(crm completion bash)
_crm() {
  local words=() word rest=\${COMP_LINE#*"\${COMP_WORDS[0]}"} last before found i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ \${#words[@]} == 0 || $rest == [[:space:]]* ]]; then
      words+=("$word")
    else
      words[\${#words[@]}-1]+=$word
    fi
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    rest=\${rest#"$word"}
  done
  last=\${words[\${#words[@]}-1]}
  before=\${last%"\${COMP_WORDS[COMP_CWORD]#[=:]}"}
  COMPREPLY=()
  while IFS= read -r found; do
    found=\${found#"$before"}
    [[ $last == [\\'\\"]* || $found != *[!a-zA-Z0-9_.,:=/@%+-]* ]] || printf -v found %q "$found"
    COMPREPLY+=("$found")
  done < <(crm __complete -- "\${words[@]//[\\'\\"\\\\]/}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _crm crm
`;

const ZSH = `#compdef crm
# crm: add this line to ~/.zshrc, after compinit:  source <(crm completion zsh)
_crm() {
  local -a found open shown
  local tab=$'\\t'
  found=("\${(@f)$(crm __complete --described -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  open=(\${(M)found:#*=})
  found=(\${found:#*=})
  if [[ -n "$open$found" ]]; then
    shown=("\${(@)found/$tab/  }")
    found=("\${(@)found%%$tab*}")
    compadd -S '' -a open
    compadd -d shown -a found
  else _files; fi
}
compdef _crm crm
`;

const FISH = `# crm: save this as ~/.config/fish/completions/crm.fish
function __crm_complete
  set -l words (commandline -opc) (commandline -ct | string unescape)
  crm __complete --described -- $words[2..-1] 2>/dev/null
end
complete -c crm -a '(__crm_complete)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** Adds `crm completion`, and the hidden command that its scripts call. */
export function registerCompletionCommand(program: Command): void {
  program
    .command('completion')
    .summary('Print a shell completion script')
    .description('Print a shell completion script for the commands and options of crm')
    .addArgument(new Argument('<shell>', 'Your shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(crm completion bash)\n  crm completion fish > ~/.config/fish/completions/crm.fish',
    )
    .action((shell: string) => writeOut(SCRIPTS[shell] ?? ''));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .option('--described', 'Print what each word means behind it')
    .action(async (words: string[], { described = false }: { described?: boolean }) => {
      const { completions } = await import('../completion-words.ts');
      const asked = () => import('../completion-records.ts');
      const found = await completions(program, words, {
        organizations: () => unlessFailing(() => organizationsFor(program, words)),
        profiles: () => unlessFailing(profileNames),
        records: (resource) =>
          unlessFailing(async () => (await asked()).recordWords(configFor(program, words), resource)),
        pipelines: (kind) =>
          unlessFailing(async () => (await asked()).pipelineWords(configFor(program, words), kind)),
        recipes: async () => Object.keys((await import('../recipes/recipes.ts')).RECIPES),
      });
      const lines = described ? found : found.map((word) => word.replace(/\t.*/s, ''));
      await writeOut(lines.map((line) => `${line}\n`).join(''));
    });
}

async function organizationsFor(program: Command, words: readonly string[]): Promise<string[]> {
  const { organizationNames } = await import('../organizations/names.ts');
  return organizationNames(configFor(program, words).db);
}

// The settings of the command that is being typed.
function configFor(program: Command, words: readonly string[]): Config {
  program.parseOptions([...words]);
  return resolveConfig(program);
}

async function profileNames(): Promise<string[]> {
  const { readProfileFile } = await import('../settings/profile.ts');
  return Object.keys(readProfileFile().profiles);
}

// A shell that asks what to type next is no place for an error.
async function unlessFailing(find: () => Promise<string[]>): Promise<string[]> {
  try {
    return await find();
  } catch {
    return [];
  }
}
