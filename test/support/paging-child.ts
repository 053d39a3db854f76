// Writes a given number of lines, in a pager where there are too many for the terminal.
import { listenForInterrupts } from '../../cli/terminal/interrupt.ts';
import { writePaged } from '../../cli/terminal/pager.ts';

listenForInterrupts();
const [count = '1', ...flags] = process.argv.slice(2);
const lines = Array.from({ length: Number(count) }, (_, index) => `line ${index + 1}\n`);
await writePaged(lines.join(''), { isPagerWanted: !flags.includes('--no-pager') });
