// Which columns a query reads: few combinations of them, because each is another statement to prepare.
import { memoize } from '../cache.ts';
import type { Resource } from '../model/resource.ts';
import { longTexts } from '../tables/page-size.ts';

// Up to so many are read by themselves.
const ALONE_MAX = 2;

/** The needed columns besides the ID, and, if they are many, others like them. */
export function columnsToRead(resource: Resource, needed: ReadonlySet<string>): string[] {
  const names = [...needed].filter((name) => name !== 'id').sort();
  if (names.length <= ALONE_MAX) return names;
  const wanted = groupsOf(resource).filter((group) => group.some((name) => needed.has(name)));
  return wanted.flat();
}

// The short texts, all that is shorter, and each long text by itself.
const groupsOf = memoize((resource: Resource): readonly (readonly string[])[] => {
  const long = longTexts(resource);
  const short = Object.entries(resource.fields).filter(
    ([name, { column, access }]) =>
      column !== null && access !== 'input' && access !== 'internal' && name !== 'id' && !long.includes(name),
  );
  const isText = (kind: string) => kind === 'text' || kind === 'email' || kind === 'domain';
  const texts = short.filter(([, { kind }]) => isText(kind)).map(([name]) => name);
  const others = short.filter(([, { kind }]) => !isText(kind)).map(([name]) => name);
  return [texts, others, ...long.map((name) => [name])];
});
