// `crm man`: one page of roff with every command, option and topic, which formatters take without a complaint.
import { describe, expect, test } from 'bun:test';
import { EXIT } from '../../cli/errors.ts';
import { ENVIRONMENT, manPage } from '../../cli/manual/man-page.ts';
import { roffOf } from '../../cli/manual/roff.ts';
import { allTopics, pageTitle } from '../../cli/manual/topics.ts';
import { buildProgram } from '../../cli/program.ts';
import { VERSION } from '../../cli/version.ts';
import { Sandbox } from '../support/command.ts';
import { ROOT } from './documents.ts';

const program = buildProgram();
const page = manPage(program, new Date('2026-11-22T10:00:00Z'));
const read = (text: string) => text.replaceAll('\\-', '-').replaceAll('\\(aq', "'");
const sections = [...read(page).matchAll(/^\.SH "(.*)"$/gm)].map(([, title]) => title);

describe('the page', () => {
  test('has what readers of man look for, and the topics between', () => {
    expect(page).toStartWith(`.TH CRM 1 2026-11-22 "crm ${VERSION}" "crm manual"\n`);
    const manual = allTopics().map((topic) => pageTitle(topic.page).toUpperCase());
    expect(sections).toEqual([
      ...['NAME', 'SYNOPSIS', 'COMMANDS', 'GLOBAL OPTIONS'],
      ...manual,
      ...['ENVIRONMENT', 'EXIT STATUS', 'FILES'],
    ]);
  });

  test('has every command with its options', () => {
    const shown = read(page);
    for (const command of program.commands.filter((one) => one.commands.length === 0)) {
      if (command.name().startsWith('__')) continue;
      expect(shown).toMatch(new RegExp(`^\\.SS "crm ${command.name()}\\b`, 'm'));
      for (const { long, hidden } of command.options) if (!hidden) expect(shown).toContain(long ?? '');
    }
    expect(shown).toContain('.SS "crm keys issue [options]"');
    expect(shown).not.toContain('__complete');
  });

  test('has every exit code', () => {
    const status = page.slice(page.indexOf('.SH "EXIT STATUS"'), page.indexOf('.SH "FILES"'));
    expect([...status.matchAll(/^\\fB(\d+)\\fR$/gm)].map(([, code]) => Number(code))).toEqual(
      Object.values(EXIT),
    );
  });

  test('has every variable that a command reads', async () => {
    const named = ENVIRONMENT.flatMap(([names]) => names.split(', '));
    const sources = await Promise.all(
      [...new Bun.Glob('cli/**/*.ts').scanSync(ROOT)].map((path) => Bun.file(`${ROOT}/${path}`).text()),
    );
    const used = sources
      .join('\n')
      .matchAll(/(?:environment\('|process\.env\.)((?:CRM|XDG)_[A-Z_]+|PAGER)\b/g);
    // That one is for who builds crm.
    const names = new Set([...used].map(([, name = '']) => name).filter((name) => name !== 'CRM_COMMIT'));
    expect([...names].filter((name) => !named.includes(name))).toEqual([]);
  });

  test('is what crm man prints', async () => {
    using sandbox = new Sandbox();
    const withoutDate = (text: string) => text.replace(/^\.TH .*\n/, '').trim();
    expect(withoutDate(await sandbox.ok(['man']))).toBe(withoutDate(page));
  });
});

describe('Markdown', () => {
  test('becomes what man(7) has for it', () => {
    const text = `# Title

A *paragraph* with \`code\`, **more** and [a link](backup.md).

## Steps

1. First:

   \`\`\`sh
   crm list -o csv
     .x
   \`\`\`

2. Second.

| A | B |
|---|---|
| \`x\` | y |

.dots and 'quotes' stay → here.
`;
    expect(roffOf(text)).toBe(
      [
        'A \\fIparagraph\\fR with \\fBcode\\fR, \\fBmore\\fR and a link (\\fBcrm help',
        'backup\\fR).',
        '.SS Steps',
        '.IP 1. 4',
        'First:',
        '.RS 4',
        '.sp',
        '.RS 4',
        '.EX',
        'crm list \\-o csv',
        '  .x',
        '.EE',
        '.RE',
        '.RE',
        '.IP 2. 4',
        'Second.',
        '.TP',
        '\\fBx\\fR',
        'y',
        '.PP',
        '\\&.dots and \\(aqquotes\\(aq stay \\(-> here.',
        '',
      ].join('\n'),
    );
  });
});

for (const lint of [
  ['groff', '-man', '-ww', '-z'],
  ['mandoc', '-Tlint', '-Wwarning'],
])
  test.skipIf(Bun.which(lint[0] ?? '') === null)(`${lint.join(' ')} has nothing to say of it`, () => {
    const { stdout, stderr } = Bun.spawnSync(lint, { stdin: new Blob([page]) });
    expect(`${stdout}${stderr}`).toBe('');
  });
