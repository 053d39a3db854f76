// What a soak has shown so far, said line by line; one bad line and it ends with 1.

let hasFailed = false;

/** Says what became of a part. */
export function report(name: string, isGood: boolean, text: string): void {
  hasFailed ||= !isGood;
  console.log(`${isGood ? 'ok  ' : 'BAD '} ${name.padEnd(32)} ${text}`);
}

/** Prints the first of some lines, below a heading. */
export function show(lines: readonly string[], most = 10): void {
  for (const line of lines.slice(0, most)) console.log(`       ${line}`);
  if (lines.length > most) console.log(`       … ${lines.length - most} more`);
}

/** Ends the process with what all parts came to. */
export function exitWithVerdict(): never {
  process.exit(hasFailed ? 1 : 0);
}
