// `crm completion`: prints scripts for shell completion, which ask crm itself for the words.
import { Argument, type Command } from 'commander';
import { writeOut } from '../terminal/streams.ts';

const BASH = `# crm: add this line to ~/.bashrc:  source <(crm completion bash)
_crm() {
  local IFS=$'\\n'
  COMPREPLY=($(crm __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _crm crm
`;

const ZSH = `#compdef crm
# crm: add this line to ~/.zshrc, after compinit:  source <(crm completion zsh)
_crm() {
  local -a found
  found=("\${(@f)$(crm __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _crm crm
`;

const FISH = `# crm: save this as ~/.config/fish/completions/crm.fish
function __crm_complete
  set -l words (commandline -opc) (commandline -ct)
  crm __complete -- $words[2..-1] 2>/dev/null
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
    .action(async (words: string[]) => {
      const { completions } = await import('../completion-words.ts');
      await writeOut(
        completions(program, words)
          .map((word) => `${word}\n`)
          .join(''),
      );
    });
}
