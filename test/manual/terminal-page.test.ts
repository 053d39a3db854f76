// Pages on a terminal: wrapped to its width, with code that can be copied.
import { describe, expect, test } from 'bun:test';
import { optionsSection } from '../../cli/manual/reference.ts';
import { terminalPage } from '../../cli/manual/terminal-page.ts';
import { buildProgram } from '../../cli/program.ts';

const plain = (markdown: string, columns = 40) => terminalPage(markdown, { columns, isColored: false });

describe('a page', () => {
  test('is wrapped, never wider than 100 columns', () => {
    const text = `# Title\n\n${'word '.repeat(100)}\nand more.\n`;
    for (const [columns, most] of [
      [40, 40],
      [200, 100],
    ] as const) {
      const widths = plain(text, columns)
        .split('\n')
        .map((line) => line.length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(most);
      expect(Math.max(...widths)).toBeGreaterThan(most - 5);
    }
  });

  test('has headings, paragraphs, lists and code', () => {
    const text = `# Title

One paragraph
over two lines.

## Steps

1. First:

   \`\`\`sh
   crm list contacts --fields email,first_name,last_name \\
     --all

   echo
   \`\`\`

2. Second, which is long enough to be wrapped.
   - inner

- a
- b is long enough to be wrapped as well
`;
    expect(plain(text)).toBe(`Title
=====

One paragraph over two lines.

Steps
-----

1. First:

       crm list contacts --fields email,first_name,last_name \\
         --all

       echo

2. Second, which is long enough to be
   wrapped.

   • inner

• a
• b is long enough to be wrapped as well
`);
  });

  test('shows where links lead', () => {
    const text =
      '[Back up](backup.md#restore), [above](#x), [site](https://x.example), [file](../../db/README.md), `crm help keys`: [`crm help keys`](keys.md)';
    expect(plain(text, 100)).toBe(
      'Back up (`crm help backup`), above, site (https://x.example), file (db/README.md), `crm help keys`:\n`crm help keys`\n',
    );
  });

  test('has escapes only where there is colour', () => {
    const text = '# Title\n\n**Strong** and `code` in *words*.\n\n| A | B |\n|---|---|\n| `x` | y |\n';
    expect(plain(text)).not.toContain('\u001b');
    const colored = terminalPage(text, { columns: 40, isColored: true });
    expect(colored).toContain('\u001b[36mcode\u001b[39m');
    expect(Bun.stripANSI(colored)).toBe(
      plain(text)
        .replace('\n=====', '')
        .replaceAll('`', '')
        .replace('`x`', 'x')
        .replace('───  ─', '─  ─')
        .replace('A    B', 'A  B')
        .replace('x    y', 'x  y'),
    );
  });
});

describe('a table', () => {
  const text = '| Flag | Meaning |\n|---|---|\n| `--a \\| b` | what it does, at some length |\n| `-c` | |\n';

  test('has columns that are wrapped', () => {
    expect(plain(text, 30)).toBe(`Flag       Meaning
─────────  ───────────────────
\`--a | b\`  what it does, at
           some length
\`-c\`
`);
  });

  test('without a header has no rule', () => {
    expect(plain('| | |\n|---|---|\n| Rows | 100 |\n')).toBe('Rows  100\n');
  });

  test('is printed row by row where columns would break words', () => {
    const long = '| Name | Is |\n|---|---|\n| `a-very-long-name` | `another-very-long-name` |\n| b | c |\n';
    expect(plain(long, 30)).toBe('`a-very-long-name`\n  Is: `another-very-long-name`\nb\n  Is: c\n');
  });
});

describe('the options of a command', () => {
  const program = buildProgram();
  const sectionOf = (name: string) =>
    optionsSection(program.commands.find((command) => command.name() === name) ?? program);

  test('are a table of its arguments and options', () => {
    const section = sectionOf('export');
    expect(section).toStartWith('## Options\n\n`crm export [options] <resource>`\n\n| Option | Meaning |\n');
    expect(section).toMatch(/^\| `--out <file>` \| .+ \|$/m);
    expect(section).not.toContain('--help');
  });

  test('of a group are those of each command in it', () => {
    const section = sectionOf('keys');
    for (const name of ['issue', 'list', 'update', 'rotate', 'revoke'])
      expect(section).toContain(`### \`crm keys ${name} `);
    expect(section).not.toContain('crm keys help');
  });

  test('are whole on a terminal', () => {
    const words = (text: string) => text.replace(/[`|\\\s─-]+/g, ' ');
    for (const command of program.commands) {
      const section = optionsSection(command);
      const shown = words(plain(section, 80));
      // What is in parentheses can have the choices as well.
      // What is in parentheses can have the choices before it.
      for (const { description } of command.options.filter(({ hidden }) => !hidden))
        for (const part of description.split(/ \((?=default: .*\)$)/))
          expect(shown).toContain(words(part).trim());
    }
  });
});
